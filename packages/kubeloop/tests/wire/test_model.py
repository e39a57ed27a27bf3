"""What a field that was not set looks like, and what is sent."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, cast

import pytest

from kubeloop.wire import UNSET, InvalidArgument, Kind, Model, Quantity, required_fields
from kubeloop.wire.apiextensions.v1 import JSONSchemaProps
from kubeloop.wire.apps.v1 import Deployment, DeploymentSpec, StatefulSet
from kubeloop.wire.coordination.v1 import Lease, LeaseSpec
from kubeloop.wire.core.v1 import (
    ConfigMap,
    Container,
    EmptyDirVolumeSource,
    EnvVar,
    HTTPGetAction,
    Pod,
    PodSpec,
    PodStatus,
    PodTemplateSpec,
    ResourceRequirements,
    Secret,
    Service,
    ServiceSpec,
    Volume,
)
from kubeloop.wire.meta.v1 import Condition, ListMeta, ObjectMeta
from kubeloop.wire.times import MicroTime


def test_a_field_that_is_not_set_is_not_sent() -> None:
    assert Pod(metadata=ObjectMeta(name="web")).to_dict() == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
    }


def test_reading_a_field_does_not_set_it() -> None:
    pod = Pod(metadata=ObjectMeta(name="web"))

    assert pod.spec.containers == []
    assert pod.metadata.labels == {}
    assert pod.status.conditions == []
    assert pod.status.phase is None

    assert pod.to_dict() == {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}


def test_what_was_read_can_be_filled() -> None:
    pod = Pod()

    pod.spec.containers.append(Container(name="app"))
    pod.metadata.labels["tier"] = "front"

    assert pod.to_dict() == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": {"tier": "front"}},
        "spec": {"containers": [{"name": "app"}]},
    }


def test_an_empty_value_that_was_set_is_sent() -> None:
    """Zero replicas, an empty string and an empty directory all mean something."""
    deployment = Deployment(spec=DeploymentSpec(replicas=0))
    volume = Volume(name="tmp", empty_dir=EmptyDirVolumeSource())
    condition = Condition(type="Ready", status="True", reason="", message="")

    assert deployment.to_dict()["spec"] == {"replicas": 0}
    assert volume.to_dict() == {"name": "tmp", "emptyDir": {}}
    assert condition.to_dict() == {"type": "Ready", "status": "True", "reason": "", "message": ""}
    assert Pod(spec=PodSpec(tolerations=[])).to_dict()["spec"] == {"tolerations": []}


def test_an_empty_value_that_came_is_sent_back() -> None:
    data = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": []}, "status": {}}

    assert Pod.from_dict(data).to_dict() == data


@pytest.mark.parametrize(
    ("field", "empty"),
    [("name", ""), ("namespace", ""), ("uid", ""), ("resource_version", ""), ("generation", 0)],
)
def test_what_every_object_has_reads_without_asking_for_none(field: str, empty: object) -> None:
    assert getattr(ObjectMeta(), field) == empty
    assert ListMeta().continue_ == ""


def test_required_fields_read_as_their_empty_value() -> None:
    assert Container().name == ""
    assert HTTPGetAction().port == 0
    assert DeploymentSpec().template.to_dict() == {}


def test_none_is_the_same_as_not_set() -> None:
    assert Pod(spec=PodSpec(node_name=None)).to_dict()["spec"] == {}


@pytest.mark.parametrize(
    ("model", "attribute", "wire"),
    [
        (ServiceSpec(cluster_ip="None"), "cluster_ip", "clusterIP"),
        (ServiceSpec(cluster_ips=["10.0.0.1"]), "cluster_ips", "clusterIPs"),
        (ServiceSpec(external_ips=["192.0.2.1"]), "external_ips", "externalIPs"),
        (ServiceSpec(load_balancer_ip="192.0.2.1"), "load_balancer_ip", "loadBalancerIP"),
        (PodSpec(host_ipc=True), "host_ipc", "hostIPC"),
        (PodSpec(host_pid=True), "host_pid", "hostPID"),
        (PodSpec(set_hostname_as_fqdn=True), "set_hostname_as_fqdn", "setHostnameAsFQDN"),
        (PodStatus(pod_ips=[]), "pod_ips", "podIPs"),
        (ListMeta(continue_="token"), "continue_", "continue"),
        (ObjectMeta(generate_name="web-"), "generate_name", "generateName"),
    ],
)
def test_acronyms_and_keywords_are_right_both_ways(model: Model, attribute: str, wire: str) -> None:
    sent = model.to_dict()

    assert list(sent) == [wire]
    assert getattr(type(model).from_dict(sent), attribute) == sent[wire]


def test_times_are_sent_in_utc_with_seconds() -> None:
    """API-23: truncated, and whatever the offset was."""
    at = datetime(2024, 1, 2, 3, 4, 5, 999_000, timezone(timedelta(hours=2)))

    sent = ObjectMeta(creation_timestamp=at).to_dict()

    assert sent == {"creationTimestamp": "2024-01-02T01:04:05Z"}


@pytest.mark.parametrize("text", ["2024-01-02T03:04:05Z", "2024-01-02T05:04:05.123456789+02:00"])
def test_times_are_read_from_any_offset_and_precision(text: str) -> None:
    """API-23, API-C6: any offset and precision is accepted."""
    read = ObjectMeta.from_dict({"creationTimestamp": text}).creation_timestamp

    assert read is not None
    assert read.astimezone(UTC).replace(microsecond=0) == datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("nothing", [{}, {"creationTimestamp": None}])
def test_the_zero_time_is_null_or_nothing_and_is_not_sent(nothing: dict[str, None]) -> None:
    """API-26: a zero creationTimestamp is omitted."""
    meta = ObjectMeta.from_dict(nothing)

    assert meta.creation_timestamp is None
    assert meta.to_dict() == {}


def test_micro_times_have_six_digits_both_ways() -> None:
    """API-24: MicroTime has six fractional digits."""
    lease = Lease(spec=LeaseSpec(renew_time=MicroTime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)))

    sent = lease.to_dict()["spec"]

    assert sent == {"renewTime": "2024-01-02T03:04:05.000000Z"}
    assert LeaseSpec.from_dict(sent).renew_time == lease.spec.renew_time


@pytest.mark.parametrize("text", ["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.123456789Z"])
def test_a_micro_time_with_other_digits_is_refused(text: str) -> None:
    """API-C7: MicroTime has six fractional digits."""
    with pytest.raises(InvalidArgument, match="renewTime"):
        LeaseSpec.from_dict({"renewTime": text})


def test_a_secrets_data_is_bytes() -> None:
    secret = Secret.from_dict({"data": {"key": "aHVudGVyMg=="}})

    assert secret.data == {"key": b"hunter2"}
    assert secret.to_dict()["data"] == {"key": "aHVudGVyMg=="}


def test_a_quantity_is_sent_as_it_was_written() -> None:
    requirements = ResourceRequirements.from_dict({"limits": {"cpu": "0.5", "memory": 1024}})

    assert requirements.limits["cpu"] == Quantity("500m")
    assert requirements.to_dict() == {"limits": {"cpu": "0.5", "memory": "1024"}}


def test_a_port_is_a_number_or_a_name() -> None:
    """API-22: IntOrString."""
    assert HTTPGetAction.from_dict({"port": 80}).port == 80
    assert HTTPGetAction.from_dict({"port": "http"}).port == "http"


def test_a_repr_of_a_secret_shows_no_value() -> None:
    secret = Secret(data={"password": b"hunter2"}, string_data={"other": "swordfish"})
    secret.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] = "swordfish"

    shown = repr(secret) + str(secret) + f"{secret!r:}"

    assert "hunter2" not in shown
    assert "swordfish" not in shown
    assert "Secret(" in shown


def test_a_repr_of_a_secret_with_unknown_keys_shows_none_of_them() -> None:
    assert "swordfish" not in repr(Secret.from_dict({"dataV2": {"password": "swordfish"}}))


def test_a_repr_shows_what_is_set() -> None:
    assert repr(Container(name="app", env=[EnvVar(name="A")])) == (
        "Container(env=[EnvVar(name='A')], name='app')"
    )


def test_objects_are_equal_if_their_content_is() -> None:
    one, other = Pod(metadata=ObjectMeta(name="web")), Pod(metadata=ObjectMeta(name="web"))

    assert one.spec.containers == []  # reading one of them changes nothing

    assert one == other
    assert not one != other  # noqa: SIM202 - `!=` is a method of its own
    assert one != Pod(metadata=ObjectMeta(name="db"))
    assert one != Service(metadata=ObjectMeta(name="web"))
    assert one != object()


def test_unknown_keys_count_for_equality() -> None:
    assert Pod.from_dict({"new": 1}) != Pod.from_dict({"new": 2})
    assert Pod.from_dict({"new": 1}) != Pod()
    assert Pod.from_dict({"new": 1}) == Pod.from_dict({"new": 1})


def test_models_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Pod())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_deep_copy_shares_nothing_and_keeps_everything(copied: Callable[[Pod], Pod]) -> None:
    """API-50: deep copies."""
    pod = Pod.from_dict({"spec": {"containers": [{"name": "a", "new": {"x": [1]}}]}, "newer": 1})
    sent = pod.to_dict()

    twin = copied(pod)
    twin.spec.containers[0].name = "b"
    twin.spec.containers[0]._extra["new"]["x"].append(2)

    assert pod.to_dict() == sent
    assert twin.to_dict()["spec"]["containers"] == [{"name": "b", "new": {"x": [1, 2]}}]
    assert twin.to_dict()["newer"] == 1


def test_a_shallow_copy_keeps_unknown_keys() -> None:
    pod = Pod.from_dict({"newer": 1})

    assert copy.copy(pod).to_dict() == pod.to_dict()


def test_encoded_data_is_a_copy() -> None:
    config = ConfigMap(data={"a": "1"})

    config.to_dict()["data"]["a"] = "2"

    assert config.data == {"a": "1"}


def test_decoded_objects_do_not_share_the_data() -> None:
    data: dict[str, Any] = {"data": {"a": "1"}, "new": {"x": 1}}
    config = ConfigMap.from_dict(data)

    data["data"]["a"] = "2"
    data["new"]["x"] = 2

    assert config.to_dict()["data"] == {"a": "1"}
    assert config.to_dict()["new"] == {"x": 1}


def test_a_nested_kind_encodes_its_type_only_if_it_was_set() -> None:
    claims = [{"metadata": {"name": "data"}}, {"kind": "PersistentVolumeClaim"}]
    stateful = StatefulSet.from_dict({"spec": {"volumeClaimTemplates": claims}})

    assert stateful.to_dict()["spec"]["volumeClaimTemplates"] == claims


def test_a_plain_dict_may_stand_in_for_a_model() -> None:
    pod = Pod()
    pod.spec = _wrong({"containers": [{"name": "app", "at": datetime(2024, 1, 2, tzinfo=UTC)}]})

    assert pod.to_dict()["spec"]["containers"][0]["at"] == "2024-01-02T00:00:00Z"


def _wrong(value: object) -> Any:
    """A value of a type that the field does not have."""
    return value


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (PodSpec(containers=_wrong("app")), "PodSpec.containers"),
        (
            Pod(spec=PodSpec(containers=[Container(env=_wrong([object()]))])),
            "Pod.spec.containers[0].env[0]",
        ),
        (Secret(data=_wrong({"key": "text"})), "Secret.data[key]"),
        (ObjectMeta(creation_timestamp=datetime(2024, 1, 1)), "ObjectMeta.creationTimestamp"),  # noqa: DTZ001
        (JSONSchemaProps(minimum=float("nan")), "JSONSchemaProps.minimum"),
        (JSONSchemaProps(default={"ratio": float("inf")}), "JSONSchemaProps.default[ratio]"),
    ],
)
def test_a_value_that_cannot_be_sent_is_named_by_its_path(model: Model, path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        model.to_dict()

    assert path in str(caught.value)


def test_half_of_a_surrogate_pair_cannot_be_encoded() -> None:
    config = ConfigMap(data={"file": "\udcff"})

    with pytest.raises(InvalidArgument, match="cannot encode ConfigMap"):
        config.to_json()


def test_json_and_yaml_have_the_same_content() -> None:
    pod = Pod.from_yaml("metadata: {name: web}\nspec: {containers: [{name: app}]}")

    assert Pod.from_json(pod.to_json()) == Pod.from_yaml(pod.to_yaml())


def test_a_kind_knows_its_names() -> None:
    assert (Deployment().api_version, Deployment().kind) == ("apps/v1", "Deployment")
    assert Kind().api_version == ""


def test_unset_takes_a_value_back() -> None:
    pod = Pod(spec=PodSpec(node_name="n"))

    pod.spec = UNSET

    assert pod.to_dict() == {"apiVersion": "v1", "kind": "Pod"}


def test_what_a_template_describes_is_read_and_set_without_asking_whether_it_is_there() -> None:
    template = PodTemplateSpec()

    assert template.spec.containers == []
    assert template.to_dict() == {}
    template.metadata.labels["app"] = "web"
    assert template.to_dict() == {"metadata": {"labels": {"app": "web"}}}
    assert required_fields(PodTemplateSpec) == frozenset()


def test_a_part_that_go_holds_by_value_reads_as_empty_and_is_not_sent() -> None:
    pod = Pod(spec=PodSpec(containers=[Container(name="main")]))
    before = pod.to_json()

    assert pod.spec.containers[0].resources.limits == {}
    assert pod.spec.containers[0].resources.requests.get("cpu") is None
    with pytest.raises(KeyError):
        pod.spec.containers[0].resources.limits["cpu"]

    assert pod.to_json() == before
    assert pod == Pod(spec=PodSpec(containers=[Container(name="main")]))


def test_a_part_that_was_filled_after_reading_it_is_sent() -> None:
    container = Container(name="main")

    container.resources.limits["cpu"] = Quantity("1")

    assert container.to_dict() == {"name": "main", "resources": {"limits": {"cpu": "1"}}}


def test_a_part_that_came_empty_or_null_stays_what_it_was() -> None:
    empty = Container.from_json(b'{"name":"a","resources":{}}')
    null = Container.from_json(b'{"name":"a","resources":null}')

    assert empty.resources.limits == null.resources.limits == {}
    assert empty.to_dict() == {"name": "a", "resources": {}}
    assert null.to_dict() == {"name": "a"}


def test_a_part_that_go_holds_by_pointer_is_none_where_it_is_not_set() -> None:
    """Its absence means something: no probe is not an empty probe."""
    assert Container(name="main").liveness_probe is None
    assert PodSpec().security_context is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"metdata": 1},
            r"Pod\(\) has no argument metdata \(did you mean metadata\? its fields: api_",
        ),
        ({"apiVersion": "v1"}, r"no argument apiVersion \(did you mean api_version\?"),
        ({"Spec": None}, r"no argument Spec \(did you mean spec\?"),
        ({"zzz": None}, r"no argument zzz \(its fields: .*metadata, spec, status\)"),
    ],
    ids=["misspelt", "the name on the wire", "the name in Go", "unlike any"],
)
def test_a_wrong_argument_is_answered_with_the_class_the_field_meant_and_all_fields(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError, match=message):
        Pod(**arguments)


def test_positional_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Pod\(\) takes keyword arguments only \(its fields: "):
        cast("Any", Pod)("v1", "Pod")


def test_an_error_of_a_classs_own_checks_is_not_replaced() -> None:
    class Strict(Model):
        size: int = 0

        def __post_init__(self) -> None:
            raise TypeError("the size is odd")

    with pytest.raises(TypeError, match="the size is odd"):
        Strict(size=1)


def test_the_signature_shows_the_fields_and_no_internal_one() -> None:
    assert list(inspect.signature(Pod).parameters) == [
        "api_version",
        "kind",
        "metadata",
        "spec",
        "status",
    ]
