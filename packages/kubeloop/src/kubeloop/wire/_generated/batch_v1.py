# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from typing import ClassVar
from . import core_v1, meta_v1, scheduling_v1alpha3

__all__ = [
    "CronJob",
    "CronJobList",
    "CronJobSpec",
    "CronJobStatus",
    "Job",
    "JobCondition",
    "JobList",
    "JobSchedulingConfiguration",
    "JobSpec",
    "JobStatus",
    "JobTemplateSpec",
    "PodFailurePolicy",
    "PodFailurePolicyOnExitCodesRequirement",
    "PodFailurePolicyOnPodConditionsPattern",
    "PodFailurePolicyRule",
    "SuccessPolicy",
    "SuccessPolicyRule",
    "UncountedTerminatedPods",
]


class CronJob(Resource, group="batch", version="v1", plural="cronjobs"):
    spec: CronJobSpec = UNSET
    status: CronJobStatus = UNSET


class CronJobList(Kind, group="batch", version="v1"):
    items: list[CronJob] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class CronJobSpec(Model):
    concurrency_policy: str | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplateSpec = UNSET
    schedule: str = UNSET
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    suspend: bool | None = None
    time_zone: str | None = None


class CronJobStatus(Model):
    active: list[core_v1.ObjectReference] = UNSET
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class Job(Resource, group="batch", version="v1", plural="jobs"):
    spec: JobSpec = UNSET
    status: JobStatus = UNSET


class JobCondition(Model):
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class JobList(Kind, group="batch", version="v1"):
    items: list[Job] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class JobSchedulingConfiguration(Model):
    disruption_mode: scheduling_v1alpha3.WorkloadPodGroupDisruptionMode | None = None
    resource_claims: list[scheduling_v1alpha3.WorkloadPodGroupResourceClaim] = UNSET
    scheduling_constraints: scheduling_v1alpha3.WorkloadPodGroupSchedulingConstraints | None = None
    scheduling_policy: scheduling_v1alpha3.WorkloadPodGroupSchedulingPolicy | None = None


class JobSpec(Model):
    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    completion_mode: str | None = None
    completions: int | None = None
    managed_by: str | None = None
    manual_selector: bool | None = None
    max_failed_indexes: int | None = None
    parallelism: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str | None = None
    scheduling: JobSchedulingConfiguration | None = None
    selector: meta_v1.LabelSelector | None = None
    success_policy: SuccessPolicy | None = None
    suspend: bool | None = None
    template: core_v1.PodTemplateSpec = UNSET
    ttl_seconds_after_finished: int | None = None


class JobStatus(Model):
    active: int | None = None
    completed_indexes: str | None = None
    completion_time: Time | None = None
    conditions: list[JobCondition] = UNSET
    failed: int | None = None
    failed_indexes: str | None = None
    ready: int | None = None
    start_time: Time | None = None
    succeeded: int | None = None
    terminating: int | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


class JobTemplateSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['metadata', 'spec'])
    metadata: meta_v1.ObjectMeta = UNSET
    spec: JobSpec = UNSET


class PodFailurePolicy(Model):
    rules: list[PodFailurePolicyRule] = UNSET


class PodFailurePolicyOnExitCodesRequirement(Model):
    container_name: str | None = None
    operator: str = UNSET
    values: list[int] = UNSET


class PodFailurePolicyOnPodConditionsPattern(Model):
    status: str | None = None
    type: str = UNSET


class PodFailurePolicyRule(Model):
    action: str = UNSET
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: list[PodFailurePolicyOnPodConditionsPattern] = UNSET


class SuccessPolicy(Model):
    rules: list[SuccessPolicyRule] = UNSET


class SuccessPolicyRule(Model):
    succeeded_count: int | None = None
    succeeded_indexes: str | None = None


class UncountedTerminatedPods(Model):
    failed: list[str] = UNSET
    succeeded: list[str] = UNSET
