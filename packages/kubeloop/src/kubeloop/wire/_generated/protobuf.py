# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

__all__ = ["MESSAGES"]

# A line is a field: number, JSON name, repetition, type, presence in JSON.
MESSAGES: dict[str, str] = {
    "admissionregistration_v1.ApplyConfiguration": """\
1 expression - string v
""",
    "admissionregistration_v1.AuditAnnotation": """\
1 key - string a
2 valueExpression - string a
""",
    "admissionregistration_v1.ExpressionWarning": """\
2 fieldRef - string a
3 warning - string a
""",
    "admissionregistration_v1.JSONPatch": """\
1 expression - string v
""",
    "admissionregistration_v1.MatchCondition": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1.MatchResources": """\
1 namespaceSelector - meta_v1.LabelSelector p
2 objectSelector - meta_v1.LabelSelector p
3 resourceRules list admissionregistration_v1.NamedRuleWithOperations p
4 excludeResourceRules list admissionregistration_v1.NamedRuleWithOperations p
7 matchPolicy - string p
""",
    "admissionregistration_v1.MutatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1.MutatingAdmissionPolicySpec a
""",
    "admissionregistration_v1.MutatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1.MutatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1.MutatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.MutatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1.MutatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1.ParamRef p
3 matchResources - admissionregistration_v1.MatchResources p
""",
    "admissionregistration_v1.MutatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.MutatingAdmissionPolicy p
""",
    "admissionregistration_v1.MutatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1.ParamKind p
2 matchConstraints - admissionregistration_v1.MatchResources p
3 variables list admissionregistration_v1.Variable p
4 mutations list admissionregistration_v1.Mutation p
5 failurePolicy - string p
6 matchConditions list admissionregistration_v1.MatchCondition p
7 reinvocationPolicy - string v
""",
    "admissionregistration_v1.MutatingWebhook": """\
1 name - string a
2 clientConfig - admissionregistration_v1.WebhookClientConfig a
3 rules list admissionregistration_v1.RuleWithOperations p
4 failurePolicy - string p
5 namespaceSelector - meta_v1.LabelSelector p
6 sideEffects - string p
7 timeoutSeconds - int32 p
8 admissionReviewVersions list string p
9 matchPolicy - string p
10 reinvocationPolicy - string p
11 objectSelector - meta_v1.LabelSelector p
12 matchConditions list admissionregistration_v1.MatchCondition p
""",
    "admissionregistration_v1.MutatingWebhookConfiguration": """\
1 metadata - meta_v1.ObjectMeta a
2 webhooks list admissionregistration_v1.MutatingWebhook p
""",
    "admissionregistration_v1.MutatingWebhookConfigurationList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.MutatingWebhookConfiguration p
""",
    "admissionregistration_v1.Mutation": """\
2 patchType - string a
3 applyConfiguration - admissionregistration_v1.ApplyConfiguration p
4 jsonPatch - admissionregistration_v1.JSONPatch p
""",
    "admissionregistration_v1.NamedRuleWithOperations": """\
1 resourceNames list string p
2 ruleWithOperations inline admissionregistration_v1.RuleWithOperations p
""",
    "admissionregistration_v1.ParamKind": """\
1 apiVersion - string v
2 kind - string v
""",
    "admissionregistration_v1.ParamRef": """\
1 name - string v
2 namespace - string v
3 selector - meta_v1.LabelSelector p
4 parameterNotFoundAction - string p
""",
    "admissionregistration_v1.Rule": """\
1 apiGroups list string p
2 apiVersions list string p
3 resources list string p
4 scope - string p
""",
    "admissionregistration_v1.RuleWithOperations": """\
1 operations list string p
2 rule inline admissionregistration_v1.Rule p
""",
    "admissionregistration_v1.ServiceReference": """\
1 namespace - string a
2 name - string a
3 path - string p
4 port - int32 p
""",
    "admissionregistration_v1.TypeChecking": """\
1 expressionWarnings list admissionregistration_v1.ExpressionWarning p
""",
    "admissionregistration_v1.ValidatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1.ValidatingAdmissionPolicySpec a
3 status - admissionregistration_v1.ValidatingAdmissionPolicyStatus a
""",
    "admissionregistration_v1.ValidatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1.ValidatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.ValidatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1.ParamRef p
3 matchResources - admissionregistration_v1.MatchResources p
4 validationActions list string p
""",
    "admissionregistration_v1.ValidatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.ValidatingAdmissionPolicy p
""",
    "admissionregistration_v1.ValidatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1.ParamKind p
2 matchConstraints - admissionregistration_v1.MatchResources p
3 validations list admissionregistration_v1.Validation p
4 failurePolicy - string p
5 auditAnnotations list admissionregistration_v1.AuditAnnotation p
6 matchConditions list admissionregistration_v1.MatchCondition p
7 variables list admissionregistration_v1.Variable p
""",
    "admissionregistration_v1.ValidatingAdmissionPolicyStatus": """\
1 observedGeneration - int64 v
2 typeChecking - admissionregistration_v1.TypeChecking p
3 conditions list meta_v1.Condition p
""",
    "admissionregistration_v1.ValidatingWebhook": """\
1 name - string a
2 clientConfig - admissionregistration_v1.WebhookClientConfig a
3 rules list admissionregistration_v1.RuleWithOperations p
4 failurePolicy - string p
5 namespaceSelector - meta_v1.LabelSelector p
6 sideEffects - string p
7 timeoutSeconds - int32 p
8 admissionReviewVersions list string p
9 matchPolicy - string p
10 objectSelector - meta_v1.LabelSelector p
11 matchConditions list admissionregistration_v1.MatchCondition p
""",
    "admissionregistration_v1.ValidatingWebhookConfiguration": """\
1 metadata - meta_v1.ObjectMeta a
2 webhooks list admissionregistration_v1.ValidatingWebhook p
""",
    "admissionregistration_v1.ValidatingWebhookConfigurationList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1.ValidatingWebhookConfiguration p
""",
    "admissionregistration_v1.Validation": """\
1 expression - string a
2 message - string v
3 reason - string p
4 messageExpression - string v
""",
    "admissionregistration_v1.Variable": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1.WebhookClientConfig": """\
1 service - admissionregistration_v1.ServiceReference p
2 caBundle - bytes v
3 url - string p
""",
    "admissionregistration_v1alpha1.ApplyConfiguration": """\
1 expression - string v
""",
    "admissionregistration_v1alpha1.AuditAnnotation": """\
1 key - string a
2 valueExpression - string a
""",
    "admissionregistration_v1alpha1.ExpressionWarning": """\
2 fieldRef - string a
3 warning - string a
""",
    "admissionregistration_v1alpha1.JSONPatch": """\
1 expression - string v
""",
    "admissionregistration_v1alpha1.MatchCondition": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1alpha1.MatchResources": """\
1 namespaceSelector - meta_v1.LabelSelector p
2 objectSelector - meta_v1.LabelSelector p
3 resourceRules list admissionregistration_v1alpha1.NamedRuleWithOperations p
4 excludeResourceRules list admissionregistration_v1alpha1.NamedRuleWithOperations p
7 matchPolicy - string p
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1alpha1.MutatingAdmissionPolicySpec a
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1alpha1.MutatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1alpha1.ParamRef p
3 matchResources - admissionregistration_v1alpha1.MatchResources p
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1alpha1.MutatingAdmissionPolicy p
""",
    "admissionregistration_v1alpha1.MutatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1alpha1.ParamKind p
2 matchConstraints - admissionregistration_v1alpha1.MatchResources p
3 variables list admissionregistration_v1alpha1.Variable p
4 mutations list admissionregistration_v1alpha1.Mutation p
5 failurePolicy - string p
6 matchConditions list admissionregistration_v1alpha1.MatchCondition p
7 reinvocationPolicy - string v
""",
    "admissionregistration_v1alpha1.Mutation": """\
2 patchType - string a
3 applyConfiguration - admissionregistration_v1alpha1.ApplyConfiguration p
4 jsonPatch - admissionregistration_v1alpha1.JSONPatch p
""",
    "admissionregistration_v1alpha1.NamedRuleWithOperations": """\
1 resourceNames list string p
2 ruleWithOperations inline admissionregistration_v1.RuleWithOperations p
""",
    "admissionregistration_v1alpha1.ParamKind": """\
1 apiVersion - string v
2 kind - string v
""",
    "admissionregistration_v1alpha1.ParamRef": """\
1 name - string v
2 namespace - string v
3 selector - meta_v1.LabelSelector p
4 parameterNotFoundAction - string p
""",
    "admissionregistration_v1alpha1.TypeChecking": """\
1 expressionWarnings list admissionregistration_v1alpha1.ExpressionWarning p
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1alpha1.ValidatingAdmissionPolicySpec a
3 status - admissionregistration_v1alpha1.ValidatingAdmissionPolicyStatus a
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1alpha1.ValidatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1alpha1.ValidatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1alpha1.ParamRef p
3 matchResources - admissionregistration_v1alpha1.MatchResources p
4 validationActions list string p
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1alpha1.ValidatingAdmissionPolicy p
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1alpha1.ParamKind p
2 matchConstraints - admissionregistration_v1alpha1.MatchResources p
3 validations list admissionregistration_v1alpha1.Validation p
4 failurePolicy - string p
5 auditAnnotations list admissionregistration_v1alpha1.AuditAnnotation p
6 matchConditions list admissionregistration_v1alpha1.MatchCondition p
7 variables list admissionregistration_v1alpha1.Variable p
""",
    "admissionregistration_v1alpha1.ValidatingAdmissionPolicyStatus": """\
1 observedGeneration - int64 v
2 typeChecking - admissionregistration_v1alpha1.TypeChecking p
3 conditions list meta_v1.Condition p
""",
    "admissionregistration_v1alpha1.Validation": """\
1 expression - string a
2 message - string v
3 reason - string p
4 messageExpression - string v
""",
    "admissionregistration_v1alpha1.Variable": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1beta1.ApplyConfiguration": """\
1 expression - string v
""",
    "admissionregistration_v1beta1.AuditAnnotation": """\
1 key - string a
2 valueExpression - string a
""",
    "admissionregistration_v1beta1.ExpressionWarning": """\
2 fieldRef - string a
3 warning - string a
""",
    "admissionregistration_v1beta1.JSONPatch": """\
1 expression - string v
""",
    "admissionregistration_v1beta1.MatchCondition": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1beta1.MatchResources": """\
1 namespaceSelector - meta_v1.LabelSelector p
2 objectSelector - meta_v1.LabelSelector p
3 resourceRules list admissionregistration_v1beta1.NamedRuleWithOperations p
4 excludeResourceRules list admissionregistration_v1beta1.NamedRuleWithOperations p
7 matchPolicy - string p
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1beta1.MutatingAdmissionPolicySpec a
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1beta1.MutatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.MutatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1beta1.ParamRef p
3 matchResources - admissionregistration_v1beta1.MatchResources p
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.MutatingAdmissionPolicy p
""",
    "admissionregistration_v1beta1.MutatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1beta1.ParamKind p
2 matchConstraints - admissionregistration_v1beta1.MatchResources p
3 variables list admissionregistration_v1beta1.Variable p
4 mutations list admissionregistration_v1beta1.Mutation p
5 failurePolicy - string p
6 matchConditions list admissionregistration_v1beta1.MatchCondition p
7 reinvocationPolicy - string v
""",
    "admissionregistration_v1beta1.MutatingWebhook": """\
1 name - string a
2 clientConfig - admissionregistration_v1beta1.WebhookClientConfig a
3 rules list admissionregistration_v1.RuleWithOperations p
4 failurePolicy - string p
5 namespaceSelector - meta_v1.LabelSelector p
6 sideEffects - string p
7 timeoutSeconds - int32 p
8 admissionReviewVersions list string p
9 matchPolicy - string p
10 reinvocationPolicy - string p
11 objectSelector - meta_v1.LabelSelector p
12 matchConditions list admissionregistration_v1beta1.MatchCondition p
""",
    "admissionregistration_v1beta1.MutatingWebhookConfiguration": """\
1 metadata - meta_v1.ObjectMeta a
2 webhooks list admissionregistration_v1beta1.MutatingWebhook p
""",
    "admissionregistration_v1beta1.MutatingWebhookConfigurationList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.MutatingWebhookConfiguration p
""",
    "admissionregistration_v1beta1.Mutation": """\
2 patchType - string a
3 applyConfiguration - admissionregistration_v1beta1.ApplyConfiguration p
4 jsonPatch - admissionregistration_v1beta1.JSONPatch p
""",
    "admissionregistration_v1beta1.NamedRuleWithOperations": """\
1 resourceNames list string p
2 ruleWithOperations inline admissionregistration_v1.RuleWithOperations p
""",
    "admissionregistration_v1beta1.ParamKind": """\
1 apiVersion - string v
2 kind - string v
""",
    "admissionregistration_v1beta1.ParamRef": """\
1 name - string v
2 namespace - string v
3 selector - meta_v1.LabelSelector p
4 parameterNotFoundAction - string p
""",
    "admissionregistration_v1beta1.ServiceReference": """\
1 namespace - string a
2 name - string a
3 path - string p
4 port - int32 p
""",
    "admissionregistration_v1beta1.TypeChecking": """\
1 expressionWarnings list admissionregistration_v1beta1.ExpressionWarning p
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1beta1.ValidatingAdmissionPolicySpec a
3 status - admissionregistration_v1beta1.ValidatingAdmissionPolicyStatus a
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicyBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - admissionregistration_v1beta1.ValidatingAdmissionPolicyBindingSpec a
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicyBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.ValidatingAdmissionPolicyBinding p
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicyBindingSpec": """\
1 policyName - string v
2 paramRef - admissionregistration_v1beta1.ParamRef p
3 matchResources - admissionregistration_v1beta1.MatchResources p
4 validationActions list string p
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.ValidatingAdmissionPolicy p
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicySpec": """\
1 paramKind - admissionregistration_v1beta1.ParamKind p
2 matchConstraints - admissionregistration_v1beta1.MatchResources p
3 validations list admissionregistration_v1beta1.Validation p
4 failurePolicy - string p
5 auditAnnotations list admissionregistration_v1beta1.AuditAnnotation p
6 matchConditions list admissionregistration_v1beta1.MatchCondition p
7 variables list admissionregistration_v1beta1.Variable p
""",
    "admissionregistration_v1beta1.ValidatingAdmissionPolicyStatus": """\
1 observedGeneration - int64 v
2 typeChecking - admissionregistration_v1beta1.TypeChecking p
3 conditions list meta_v1.Condition p
""",
    "admissionregistration_v1beta1.ValidatingWebhook": """\
1 name - string a
2 clientConfig - admissionregistration_v1beta1.WebhookClientConfig a
3 rules list admissionregistration_v1.RuleWithOperations p
4 failurePolicy - string p
5 namespaceSelector - meta_v1.LabelSelector p
6 sideEffects - string p
7 timeoutSeconds - int32 p
8 admissionReviewVersions list string p
9 matchPolicy - string p
10 objectSelector - meta_v1.LabelSelector p
11 matchConditions list admissionregistration_v1beta1.MatchCondition p
""",
    "admissionregistration_v1beta1.ValidatingWebhookConfiguration": """\
1 metadata - meta_v1.ObjectMeta a
2 webhooks list admissionregistration_v1beta1.ValidatingWebhook p
""",
    "admissionregistration_v1beta1.ValidatingWebhookConfigurationList": """\
1 metadata - meta_v1.ListMeta a
2 items list admissionregistration_v1beta1.ValidatingWebhookConfiguration p
""",
    "admissionregistration_v1beta1.Validation": """\
1 expression - string a
2 message - string v
3 reason - string p
4 messageExpression - string v
""",
    "admissionregistration_v1beta1.Variable": """\
1 name - string a
2 expression - string a
""",
    "admissionregistration_v1beta1.WebhookClientConfig": """\
1 service - admissionregistration_v1beta1.ServiceReference p
2 caBundle - bytes v
3 url - string p
""",
    "apiserverinternal_v1alpha1.ServerStorageVersion": """\
1 apiServerID - string v
2 encodingVersion - string v
3 decodableVersions list string p
4 servedVersions list string p
""",
    "apiserverinternal_v1alpha1.StorageVersion": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apiserverinternal_v1alpha1.StorageVersionSpec a
3 status - apiserverinternal_v1alpha1.StorageVersionStatus a
""",
    "apiserverinternal_v1alpha1.StorageVersionCondition": """\
1 type - string a
2 status - string a
3 observedGeneration - int64 v
4 lastTransitionTime - Time n
5 reason - string a
6 message - string v
""",
    "apiserverinternal_v1alpha1.StorageVersionList": """\
1 metadata - meta_v1.ListMeta a
2 items list apiserverinternal_v1alpha1.StorageVersion p
""",
    "apiserverinternal_v1alpha1.StorageVersionSpec": """\
""",
    "apiserverinternal_v1alpha1.StorageVersionStatus": """\
1 storageVersions list apiserverinternal_v1alpha1.ServerStorageVersion p
2 commonEncodingVersion - string p
3 conditions list apiserverinternal_v1alpha1.StorageVersionCondition p
""",
    "apps_v1.ControllerRevision": """\
1 metadata - meta_v1.ObjectMeta a
2 data - Raw n
3 revision - int64 a
""",
    "apps_v1.ControllerRevisionList": """\
1 metadata - meta_v1.ListMeta a
2 items list apps_v1.ControllerRevision p
""",
    "apps_v1.DaemonSet": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apps_v1.DaemonSetSpec a
3 status - apps_v1.DaemonSetStatus a
""",
    "apps_v1.DaemonSetCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "apps_v1.DaemonSetList": """\
1 metadata - meta_v1.ListMeta a
2 items list apps_v1.DaemonSet p
""",
    "apps_v1.DaemonSetSpec": """\
1 selector - meta_v1.LabelSelector p
2 template - core_v1.PodTemplateSpec a
3 updateStrategy - apps_v1.DaemonSetUpdateStrategy a
4 minReadySeconds - int32 v
6 revisionHistoryLimit - int32 p
""",
    "apps_v1.DaemonSetStatus": """\
1 currentNumberScheduled - int32 a
2 numberMisscheduled - int32 a
3 desiredNumberScheduled - int32 a
4 numberReady - int32 a
5 observedGeneration - int64 v
6 updatedNumberScheduled - int32 v
7 numberAvailable - int32 v
8 numberUnavailable - int32 v
9 collisionCount - int32 p
10 conditions list apps_v1.DaemonSetCondition p
""",
    "apps_v1.DaemonSetUpdateStrategy": """\
1 type - string v
2 rollingUpdate - apps_v1.RollingUpdateDaemonSet p
""",
    "apps_v1.Deployment": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apps_v1.DeploymentSpec a
3 status - apps_v1.DeploymentStatus a
""",
    "apps_v1.DeploymentCondition": """\
1 type - string a
2 status - string a
4 reason - string v
5 message - string v
6 lastUpdateTime - Time n
7 lastTransitionTime - Time n
""",
    "apps_v1.DeploymentList": """\
1 metadata - meta_v1.ListMeta a
2 items list apps_v1.Deployment p
""",
    "apps_v1.DeploymentSpec": """\
1 replicas - int32 p
2 selector - meta_v1.LabelSelector p
3 template - core_v1.PodTemplateSpec a
4 strategy - apps_v1.DeploymentStrategy a
5 minReadySeconds - int32 v
6 revisionHistoryLimit - int32 p
7 paused - bool v
9 progressDeadlineSeconds - int32 p
""",
    "apps_v1.DeploymentStatus": """\
1 observedGeneration - int64 v
2 replicas - int32 v
3 updatedReplicas - int32 v
4 availableReplicas - int32 v
5 unavailableReplicas - int32 v
6 conditions list apps_v1.DeploymentCondition p
7 readyReplicas - int32 v
8 collisionCount - int32 p
9 terminatingReplicas - int32 p
""",
    "apps_v1.DeploymentStrategy": """\
1 type - string v
2 rollingUpdate - apps_v1.RollingUpdateDeployment p
""",
    "apps_v1.ReplicaSet": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apps_v1.ReplicaSetSpec a
3 status - apps_v1.ReplicaSetStatus a
""",
    "apps_v1.ReplicaSetCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "apps_v1.ReplicaSetList": """\
1 metadata - meta_v1.ListMeta a
2 items list apps_v1.ReplicaSet p
""",
    "apps_v1.ReplicaSetSpec": """\
1 replicas - int32 p
2 selector - meta_v1.LabelSelector p
3 template - core_v1.PodTemplateSpec a
4 minReadySeconds - int32 v
""",
    "apps_v1.ReplicaSetStatus": """\
1 replicas - int32 a
2 fullyLabeledReplicas - int32 v
3 observedGeneration - int64 v
4 readyReplicas - int32 v
5 availableReplicas - int32 v
6 conditions list apps_v1.ReplicaSetCondition p
7 terminatingReplicas - int32 p
""",
    "apps_v1.RollingUpdateDaemonSet": """\
1 maxUnavailable - IntOrString p
2 maxSurge - IntOrString p
""",
    "apps_v1.RollingUpdateDeployment": """\
1 maxUnavailable - IntOrString p
2 maxSurge - IntOrString p
""",
    "apps_v1.RollingUpdateStatefulSetStrategy": """\
1 partition - int32 p
2 maxUnavailable - IntOrString p
""",
    "apps_v1.StatefulSet": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apps_v1.StatefulSetSpec a
3 status - apps_v1.StatefulSetStatus a
""",
    "apps_v1.StatefulSetCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "apps_v1.StatefulSetList": """\
1 metadata - meta_v1.ListMeta a
2 items list apps_v1.StatefulSet p
""",
    "apps_v1.StatefulSetOrdinals": """\
1 start - int32 a
""",
    "apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy": """\
1 whenDeleted - string v
2 whenScaled - string v
""",
    "apps_v1.StatefulSetSpec": """\
1 replicas - int32 p
2 selector - meta_v1.LabelSelector p
3 template - core_v1.PodTemplateSpec a
4 volumeClaimTemplates list core_v1.PersistentVolumeClaim p
5 serviceName - string a
6 podManagementPolicy - string v
7 updateStrategy - apps_v1.StatefulSetUpdateStrategy a
8 revisionHistoryLimit - int32 p
9 minReadySeconds - int32 v
10 persistentVolumeClaimRetentionPolicy - apps_v1.StatefulSetPersistentVolumeClaimRetentionPolicy p
11 ordinals - apps_v1.StatefulSetOrdinals p
""",
    "apps_v1.StatefulSetStatus": """\
1 observedGeneration - int64 v
2 replicas - int32 a
3 readyReplicas - int32 v
4 currentReplicas - int32 v
5 updatedReplicas - int32 v
6 currentRevision - string v
7 updateRevision - string v
9 collisionCount - int32 p
10 conditions list apps_v1.StatefulSetCondition p
11 availableReplicas - int32 a
""",
    "apps_v1.StatefulSetUpdateStrategy": """\
1 type - string v
2 rollingUpdate - apps_v1.RollingUpdateStatefulSetStrategy p
""",
    "authentication_v1.AttestationValue": """\
1 items list string p
""",
    "authentication_v1.BoundObjectReference": """\
1 kind - string v
2 apiVersion - string v
3 name - string v
4 uid - string v
""",
    "authentication_v1.ExtraValue": """\
1 items list string p
""",
    "authentication_v1.SelfSubjectReview": """\
1 metadata - meta_v1.ObjectMeta a
2 status - authentication_v1.SelfSubjectReviewStatus a
""",
    "authentication_v1.SelfSubjectReviewStatus": """\
1 userInfo - authentication_v1.UserInfo a
""",
    "authentication_v1.TokenRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authentication_v1.TokenRequestSpec a
3 status - authentication_v1.TokenRequestStatus a
""",
    "authentication_v1.TokenRequestSpec": """\
1 audiences list string p
3 boundObjectRef - authentication_v1.BoundObjectReference p
4 expirationSeconds - int64 p
5 attestations map strings p
""",
    "authentication_v1.TokenRequestStatus": """\
1 token - string a
2 expirationTimestamp - Time n
""",
    "authentication_v1.TokenReview": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authentication_v1.TokenReviewSpec a
3 status - authentication_v1.TokenReviewStatus a
""",
    "authentication_v1.TokenReviewSpec": """\
1 token - string v
2 audiences list string p
""",
    "authentication_v1.TokenReviewStatus": """\
1 authenticated - bool v
2 user - authentication_v1.UserInfo a
3 error - string v
4 audiences list string p
""",
    "authentication_v1.UserInfo": """\
1 username - string v
2 uid - string v
3 groups list string p
4 extra map strings p
""",
    "authorization_v1.ExtraValue": """\
1 items list string p
""",
    "authorization_v1.FieldSelectorAttributes": """\
1 rawSelector - string v
2 requirements list meta_v1.FieldSelectorRequirement p
""",
    "authorization_v1.LabelSelectorAttributes": """\
1 rawSelector - string v
2 requirements list meta_v1.LabelSelectorRequirement p
""",
    "authorization_v1.LocalSubjectAccessReview": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authorization_v1.SubjectAccessReviewSpec a
3 status - authorization_v1.SubjectAccessReviewStatus a
""",
    "authorization_v1.NonResourceAttributes": """\
1 path - string v
2 verb - string v
""",
    "authorization_v1.NonResourceRule": """\
1 verbs list string p
2 nonResourceURLs list string p
""",
    "authorization_v1.ResourceAttributes": """\
1 namespace - string v
2 verb - string v
3 group - string v
4 version - string v
5 resource - string v
6 subresource - string v
7 name - string v
8 fieldSelector - authorization_v1.FieldSelectorAttributes p
9 labelSelector - authorization_v1.LabelSelectorAttributes p
""",
    "authorization_v1.ResourceRule": """\
1 verbs list string p
2 apiGroups list string p
3 resources list string p
4 resourceNames list string p
""",
    "authorization_v1.SelfSubjectAccessReview": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authorization_v1.SelfSubjectAccessReviewSpec a
3 status - authorization_v1.SubjectAccessReviewStatus a
""",
    "authorization_v1.SelfSubjectAccessReviewSpec": """\
1 resourceAttributes - authorization_v1.ResourceAttributes p
2 nonResourceAttributes - authorization_v1.NonResourceAttributes p
""",
    "authorization_v1.SelfSubjectRulesReview": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authorization_v1.SelfSubjectRulesReviewSpec a
3 status - authorization_v1.SubjectRulesReviewStatus a
""",
    "authorization_v1.SelfSubjectRulesReviewSpec": """\
1 namespace - string v
""",
    "authorization_v1.SubjectAccessReview": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - authorization_v1.SubjectAccessReviewSpec a
3 status - authorization_v1.SubjectAccessReviewStatus a
""",
    "authorization_v1.SubjectAccessReviewSpec": """\
1 resourceAttributes - authorization_v1.ResourceAttributes p
2 nonResourceAttributes - authorization_v1.NonResourceAttributes p
3 user - string v
4 groups list string p
5 extra map strings p
6 uid - string v
""",
    "authorization_v1.SubjectAccessReviewStatus": """\
1 allowed - bool a
2 reason - string v
3 evaluationError - string v
4 denied - bool v
""",
    "authorization_v1.SubjectRulesReviewStatus": """\
1 resourceRules list authorization_v1.ResourceRule p
2 nonResourceRules list authorization_v1.NonResourceRule p
3 incomplete - bool a
4 evaluationError - string v
""",
    "autoscaling_v1.ContainerResourceMetricSource": """\
1 name - string p
2 targetAverageUtilization - int32 p
3 targetAverageValue - Quantity p
5 container - string p
""",
    "autoscaling_v1.ContainerResourceMetricStatus": """\
1 name - string p
2 currentAverageUtilization - int32 p
3 currentAverageValue - Quantity p
4 container - string p
""",
    "autoscaling_v1.CrossVersionObjectReference": """\
1 kind - string a
2 name - string a
3 apiVersion - string v
""",
    "autoscaling_v1.ExternalMetricSource": """\
1 metricName - string p
2 metricSelector - meta_v1.LabelSelector p
3 targetValue - Quantity p
4 targetAverageValue - Quantity p
""",
    "autoscaling_v1.ExternalMetricStatus": """\
1 metricName - string p
2 metricSelector - meta_v1.LabelSelector p
3 currentValue - Quantity p
4 currentAverageValue - Quantity p
""",
    "autoscaling_v1.HorizontalPodAutoscaler": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - autoscaling_v1.HorizontalPodAutoscalerSpec a
3 status - autoscaling_v1.HorizontalPodAutoscalerStatus a
""",
    "autoscaling_v1.HorizontalPodAutoscalerCondition": """\
1 type - string p
2 status - string p
3 lastTransitionTime - Time p
4 reason - string p
5 message - string p
6 observedGeneration - int64 p
""",
    "autoscaling_v1.HorizontalPodAutoscalerList": """\
1 metadata - meta_v1.ListMeta a
2 items list autoscaling_v1.HorizontalPodAutoscaler p
""",
    "autoscaling_v1.HorizontalPodAutoscalerSpec": """\
1 scaleTargetRef - autoscaling_v1.CrossVersionObjectReference a
2 minReplicas - int32 p
3 maxReplicas - int32 a
4 targetCPUUtilizationPercentage - int32 p
""",
    "autoscaling_v1.HorizontalPodAutoscalerStatus": """\
1 observedGeneration - int64 p
2 lastScaleTime - Time p
3 currentReplicas - int32 a
4 desiredReplicas - int32 a
5 currentCPUUtilizationPercentage - int32 p
""",
    "autoscaling_v1.MetricSpec": """\
1 type - string p
2 object - autoscaling_v1.ObjectMetricSource p
3 pods - autoscaling_v1.PodsMetricSource p
4 resource - autoscaling_v1.ResourceMetricSource p
5 external - autoscaling_v1.ExternalMetricSource p
7 containerResource - autoscaling_v1.ContainerResourceMetricSource p
""",
    "autoscaling_v1.MetricStatus": """\
1 type - string p
2 object - autoscaling_v1.ObjectMetricStatus p
3 pods - autoscaling_v1.PodsMetricStatus p
4 resource - autoscaling_v1.ResourceMetricStatus p
5 external - autoscaling_v1.ExternalMetricStatus p
7 containerResource - autoscaling_v1.ContainerResourceMetricStatus p
""",
    "autoscaling_v1.ObjectMetricSource": """\
1 target - autoscaling_v1.CrossVersionObjectReference p
2 metricName - string p
3 targetValue - Quantity p
4 selector - meta_v1.LabelSelector p
5 averageValue - Quantity p
""",
    "autoscaling_v1.ObjectMetricStatus": """\
1 target - autoscaling_v1.CrossVersionObjectReference p
2 metricName - string p
3 currentValue - Quantity p
4 selector - meta_v1.LabelSelector p
5 averageValue - Quantity p
""",
    "autoscaling_v1.PodsMetricSource": """\
1 metricName - string p
2 targetAverageValue - Quantity p
3 selector - meta_v1.LabelSelector p
""",
    "autoscaling_v1.PodsMetricStatus": """\
1 metricName - string p
2 currentAverageValue - Quantity p
3 selector - meta_v1.LabelSelector p
""",
    "autoscaling_v1.ResourceMetricSource": """\
1 name - string p
2 targetAverageUtilization - int32 p
3 targetAverageValue - Quantity p
""",
    "autoscaling_v1.ResourceMetricStatus": """\
1 name - string p
2 currentAverageUtilization - int32 p
3 currentAverageValue - Quantity p
""",
    "autoscaling_v1.Scale": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - autoscaling_v1.ScaleSpec a
3 status - autoscaling_v1.ScaleStatus a
""",
    "autoscaling_v1.ScaleSpec": """\
1 replicas - int32 v
""",
    "autoscaling_v1.ScaleStatus": """\
1 replicas - int32 a
2 selector - string v
""",
    "autoscaling_v2.ContainerResourceMetricSource": """\
1 name - string a
2 target - autoscaling_v2.MetricTarget a
3 container - string a
""",
    "autoscaling_v2.ContainerResourceMetricStatus": """\
1 name - string a
2 current - autoscaling_v2.MetricValueStatus a
3 container - string a
""",
    "autoscaling_v2.CrossVersionObjectReference": """\
1 kind - string a
2 name - string a
3 apiVersion - string v
""",
    "autoscaling_v2.ExternalMetricSource": """\
1 metric - autoscaling_v2.MetricIdentifier a
2 target - autoscaling_v2.MetricTarget a
""",
    "autoscaling_v2.ExternalMetricStatus": """\
1 metric - autoscaling_v2.MetricIdentifier a
2 current - autoscaling_v2.MetricValueStatus a
""",
    "autoscaling_v2.HPAScalingPolicy": """\
1 type - string a
2 value - int32 a
3 periodSeconds - int32 a
""",
    "autoscaling_v2.HPAScalingRules": """\
1 selectPolicy - string p
2 policies list autoscaling_v2.HPAScalingPolicy p
3 stabilizationWindowSeconds - int32 p
4 tolerance - Quantity p
""",
    "autoscaling_v2.HorizontalPodAutoscaler": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - autoscaling_v2.HorizontalPodAutoscalerSpec a
3 status - autoscaling_v2.HorizontalPodAutoscalerStatus a
""",
    "autoscaling_v2.HorizontalPodAutoscalerBehavior": """\
1 scaleUp - autoscaling_v2.HPAScalingRules p
2 scaleDown - autoscaling_v2.HPAScalingRules p
""",
    "autoscaling_v2.HorizontalPodAutoscalerCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
6 observedGeneration - int64 p
""",
    "autoscaling_v2.HorizontalPodAutoscalerList": """\
1 metadata - meta_v1.ListMeta a
2 items list autoscaling_v2.HorizontalPodAutoscaler p
""",
    "autoscaling_v2.HorizontalPodAutoscalerSpec": """\
1 scaleTargetRef - autoscaling_v2.CrossVersionObjectReference a
2 minReplicas - int32 p
3 maxReplicas - int32 a
4 metrics list autoscaling_v2.MetricSpec p
5 behavior - autoscaling_v2.HorizontalPodAutoscalerBehavior p
""",
    "autoscaling_v2.HorizontalPodAutoscalerStatus": """\
1 observedGeneration - int64 p
2 lastScaleTime - Time p
3 currentReplicas - int32 v
4 desiredReplicas - int32 a
5 currentMetrics list autoscaling_v2.MetricStatus p
6 conditions list autoscaling_v2.HorizontalPodAutoscalerCondition p
""",
    "autoscaling_v2.MetricIdentifier": """\
1 name - string a
2 selector - meta_v1.LabelSelector p
""",
    "autoscaling_v2.MetricSpec": """\
1 type - string a
2 object - autoscaling_v2.ObjectMetricSource p
3 pods - autoscaling_v2.PodsMetricSource p
4 resource - autoscaling_v2.ResourceMetricSource p
5 external - autoscaling_v2.ExternalMetricSource p
7 containerResource - autoscaling_v2.ContainerResourceMetricSource p
""",
    "autoscaling_v2.MetricStatus": """\
1 type - string a
2 object - autoscaling_v2.ObjectMetricStatus p
3 pods - autoscaling_v2.PodsMetricStatus p
4 resource - autoscaling_v2.ResourceMetricStatus p
5 external - autoscaling_v2.ExternalMetricStatus p
7 containerResource - autoscaling_v2.ContainerResourceMetricStatus p
""",
    "autoscaling_v2.MetricTarget": """\
1 type - string a
2 value - Quantity p
3 averageValue - Quantity p
4 averageUtilization - int32 p
""",
    "autoscaling_v2.MetricValueStatus": """\
1 value - Quantity p
2 averageValue - Quantity p
3 averageUtilization - int32 p
""",
    "autoscaling_v2.ObjectMetricSource": """\
1 describedObject - autoscaling_v2.CrossVersionObjectReference a
2 target - autoscaling_v2.MetricTarget a
3 metric - autoscaling_v2.MetricIdentifier a
""",
    "autoscaling_v2.ObjectMetricStatus": """\
1 metric - autoscaling_v2.MetricIdentifier a
2 current - autoscaling_v2.MetricValueStatus a
3 describedObject - autoscaling_v2.CrossVersionObjectReference a
""",
    "autoscaling_v2.PodsMetricSource": """\
1 metric - autoscaling_v2.MetricIdentifier a
2 target - autoscaling_v2.MetricTarget a
""",
    "autoscaling_v2.PodsMetricStatus": """\
1 metric - autoscaling_v2.MetricIdentifier a
2 current - autoscaling_v2.MetricValueStatus a
""",
    "autoscaling_v2.ResourceMetricSource": """\
1 name - string a
2 target - autoscaling_v2.MetricTarget a
""",
    "autoscaling_v2.ResourceMetricStatus": """\
1 name - string a
2 current - autoscaling_v2.MetricValueStatus a
""",
    "batch_v1.CronJob": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - batch_v1.CronJobSpec a
3 status - batch_v1.CronJobStatus a
""",
    "batch_v1.CronJobList": """\
1 metadata - meta_v1.ListMeta a
2 items list batch_v1.CronJob p
""",
    "batch_v1.CronJobSpec": """\
1 schedule - string a
2 startingDeadlineSeconds - int64 p
3 concurrencyPolicy - string v
4 suspend - bool p
5 jobTemplate - batch_v1.JobTemplateSpec a
6 successfulJobsHistoryLimit - int32 p
7 failedJobsHistoryLimit - int32 p
8 timeZone - string p
""",
    "batch_v1.CronJobStatus": """\
1 active list core_v1.ObjectReference p
4 lastScheduleTime - Time p
5 lastSuccessfulTime - Time p
""",
    "batch_v1.Job": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - batch_v1.JobSpec a
3 status - batch_v1.JobStatus a
""",
    "batch_v1.JobCondition": """\
1 type - string a
2 status - string a
3 lastProbeTime - Time n
4 lastTransitionTime - Time n
5 reason - string v
6 message - string v
""",
    "batch_v1.JobList": """\
1 metadata - meta_v1.ListMeta a
2 items list batch_v1.Job p
""",
    "batch_v1.JobSchedulingConfiguration": """\
1 schedulingPolicy - scheduling_v1alpha3.WorkloadPodGroupSchedulingPolicy p
2 schedulingConstraints - scheduling_v1alpha3.WorkloadPodGroupSchedulingConstraints p
3 disruptionMode - scheduling_v1alpha3.WorkloadPodGroupDisruptionMode p
4 resourceClaims list scheduling_v1alpha3.WorkloadPodGroupResourceClaim p
""",
    "batch_v1.JobSpec": """\
1 parallelism - int32 p
2 completions - int32 p
3 activeDeadlineSeconds - int64 p
4 selector - meta_v1.LabelSelector p
5 manualSelector - bool p
6 template - core_v1.PodTemplateSpec a
7 backoffLimit - int32 p
8 ttlSecondsAfterFinished - int32 p
9 completionMode - string p
10 suspend - bool p
11 podFailurePolicy - batch_v1.PodFailurePolicy p
12 backoffLimitPerIndex - int32 p
13 maxFailedIndexes - int32 p
14 podReplacementPolicy - string p
15 managedBy - string p
16 successPolicy - batch_v1.SuccessPolicy p
17 scheduling - batch_v1.JobSchedulingConfiguration p
""",
    "batch_v1.JobStatus": """\
1 conditions list batch_v1.JobCondition p
2 startTime - Time p
3 completionTime - Time p
4 active - int32 v
5 succeeded - int32 v
6 failed - int32 v
7 completedIndexes - string v
8 uncountedTerminatedPods - batch_v1.UncountedTerminatedPods p
9 ready - int32 p
10 failedIndexes - string p
11 terminating - int32 p
""",
    "batch_v1.JobTemplateSpec": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - batch_v1.JobSpec a
""",
    "batch_v1.PodFailurePolicy": """\
1 rules list batch_v1.PodFailurePolicyRule p
""",
    "batch_v1.PodFailurePolicyOnExitCodesRequirement": """\
1 containerName - string p
2 operator - string a
3 values list int32 p
""",
    "batch_v1.PodFailurePolicyOnPodConditionsPattern": """\
1 type - string a
2 status - string a
""",
    "batch_v1.PodFailurePolicyRule": """\
1 action - string a
2 onExitCodes - batch_v1.PodFailurePolicyOnExitCodesRequirement p
3 onPodConditions list batch_v1.PodFailurePolicyOnPodConditionsPattern p
""",
    "batch_v1.SuccessPolicy": """\
1 rules list batch_v1.SuccessPolicyRule p
""",
    "batch_v1.SuccessPolicyRule": """\
1 succeededIndexes - string p
2 succeededCount - int32 p
""",
    "batch_v1.UncountedTerminatedPods": """\
1 succeeded list string p
2 failed list string p
""",
    "certificates_v1.CertificateSigningRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1.CertificateSigningRequestSpec a
3 status - certificates_v1.CertificateSigningRequestStatus a
""",
    "certificates_v1.CertificateSigningRequestCondition": """\
1 type - string a
2 reason - string v
3 message - string v
4 lastUpdateTime - Time n
5 lastTransitionTime - Time n
6 status - string a
""",
    "certificates_v1.CertificateSigningRequestList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1.CertificateSigningRequest p
""",
    "certificates_v1.CertificateSigningRequestSpec": """\
1 request - bytes p
2 username - string v
3 uid - string v
4 groups list string p
5 usages list string p
6 extra map strings p
7 signerName - string a
8 expirationSeconds - int32 p
""",
    "certificates_v1.CertificateSigningRequestStatus": """\
1 conditions list certificates_v1.CertificateSigningRequestCondition p
2 certificate - bytes v
""",
    "certificates_v1.ClusterTrustBundle": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1.ClusterTrustBundleSpec a
""",
    "certificates_v1.ClusterTrustBundleList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1.ClusterTrustBundle p
""",
    "certificates_v1.ClusterTrustBundleSpec": """\
1 signerName - string v
2 trustBundle - string a
""",
    "certificates_v1.ExtraValue": """\
1 items list string p
""",
    "certificates_v1.PodCertificateRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1.PodCertificateRequestSpec a
3 status - certificates_v1.PodCertificateRequestStatus a
""",
    "certificates_v1.PodCertificateRequestList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1.PodCertificateRequest p
""",
    "certificates_v1.PodCertificateRequestSpec": """\
1 signerName - string a
2 podName - string a
3 podUID - string a
4 serviceAccountName - string a
5 serviceAccountUID - string a
6 nodeName - string a
7 nodeUID - string a
8 maxExpirationSeconds - int32 p
11 unverifiedUserAnnotations map string p
12 stubPKCS10Request - bytes p
""",
    "certificates_v1.PodCertificateRequestStatus": """\
1 conditions list meta_v1.Condition p
2 certificateChain - string v
4 notBefore - Time p
5 beginRefreshAt - Time p
6 notAfter - Time p
""",
    "certificates_v1beta1.CertificateSigningRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1beta1.CertificateSigningRequestSpec a
3 status - certificates_v1beta1.CertificateSigningRequestStatus a
""",
    "certificates_v1beta1.CertificateSigningRequestCondition": """\
1 type - string a
2 reason - string v
3 message - string v
4 lastUpdateTime - Time n
5 lastTransitionTime - Time n
6 status - string a
""",
    "certificates_v1beta1.CertificateSigningRequestList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1beta1.CertificateSigningRequest p
""",
    "certificates_v1beta1.CertificateSigningRequestSpec": """\
1 request - bytes p
2 username - string v
3 uid - string v
4 groups list string p
5 usages list string p
6 extra map strings p
7 signerName - string p
8 expirationSeconds - int32 p
""",
    "certificates_v1beta1.CertificateSigningRequestStatus": """\
1 conditions list certificates_v1beta1.CertificateSigningRequestCondition p
2 certificate - bytes v
""",
    "certificates_v1beta1.ClusterTrustBundle": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1beta1.ClusterTrustBundleSpec a
""",
    "certificates_v1beta1.ClusterTrustBundleList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1beta1.ClusterTrustBundle p
""",
    "certificates_v1beta1.ClusterTrustBundleSpec": """\
1 signerName - string v
2 trustBundle - string a
""",
    "certificates_v1beta1.ExtraValue": """\
1 items list string p
""",
    "certificates_v1beta1.PodCertificateRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - certificates_v1beta1.PodCertificateRequestSpec a
3 status - certificates_v1beta1.PodCertificateRequestStatus a
""",
    "certificates_v1beta1.PodCertificateRequestList": """\
1 metadata - meta_v1.ListMeta a
2 items list certificates_v1beta1.PodCertificateRequest p
""",
    "certificates_v1beta1.PodCertificateRequestSpec": """\
1 signerName - string a
2 podName - string a
3 podUID - string a
4 serviceAccountName - string a
5 serviceAccountUID - string a
6 nodeName - string a
7 nodeUID - string a
8 maxExpirationSeconds - int32 p
9 pkixPublicKey - bytes p
10 proofOfPossession - bytes p
11 unverifiedUserAnnotations map string p
12 stubPKCS10Request - bytes p
""",
    "certificates_v1beta1.PodCertificateRequestStatus": """\
1 conditions list meta_v1.Condition p
2 certificateChain - string v
4 notBefore - Time p
5 beginRefreshAt - Time p
6 notAfter - Time p
""",
    "coordination_v1.Lease": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - coordination_v1.LeaseSpec a
""",
    "coordination_v1.LeaseList": """\
1 metadata - meta_v1.ListMeta a
2 items list coordination_v1.Lease p
""",
    "coordination_v1.LeaseSpec": """\
1 holderIdentity - string p
2 leaseDurationSeconds - int32 p
3 acquireTime - MicroTime p
4 renewTime - MicroTime p
5 leaseTransitions - int32 p
6 strategy - string p
7 preferredHolder - string p
""",
    "coordination_v1alpha2.LeaseCandidate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - coordination_v1alpha2.LeaseCandidateSpec a
""",
    "coordination_v1alpha2.LeaseCandidateList": """\
1 metadata - meta_v1.ListMeta a
2 items list coordination_v1alpha2.LeaseCandidate p
""",
    "coordination_v1alpha2.LeaseCandidateSpec": """\
1 leaseName - string a
2 pingTime - MicroTime p
3 renewTime - MicroTime p
4 binaryVersion - string a
5 emulationVersion - string v
6 strategy - string v
""",
    "coordination_v1beta1.Lease": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - coordination_v1beta1.LeaseSpec a
""",
    "coordination_v1beta1.LeaseCandidate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - coordination_v1beta1.LeaseCandidateSpec a
""",
    "coordination_v1beta1.LeaseCandidateList": """\
1 metadata - meta_v1.ListMeta a
2 items list coordination_v1beta1.LeaseCandidate p
""",
    "coordination_v1beta1.LeaseCandidateSpec": """\
1 leaseName - string a
2 pingTime - MicroTime p
3 renewTime - MicroTime p
4 binaryVersion - string a
5 emulationVersion - string v
6 strategy - string v
""",
    "coordination_v1beta1.LeaseList": """\
1 metadata - meta_v1.ListMeta a
2 items list coordination_v1beta1.Lease p
""",
    "coordination_v1beta1.LeaseSpec": """\
1 holderIdentity - string p
2 leaseDurationSeconds - int32 p
3 acquireTime - MicroTime p
4 renewTime - MicroTime p
5 leaseTransitions - int32 p
6 strategy - string p
7 preferredHolder - string p
""",
    "core_v1.AWSElasticBlockStoreVolumeSource": """\
1 volumeID - string a
2 fsType - string v
3 partition - int32 v
4 readOnly - bool v
""",
    "core_v1.Affinity": """\
1 nodeAffinity - core_v1.NodeAffinity p
2 podAffinity - core_v1.PodAffinity p
3 podAntiAffinity - core_v1.PodAntiAffinity p
""",
    "core_v1.AppArmorProfile": """\
1 type - string a
2 localhostProfile - string p
""",
    "core_v1.AttachedVolume": """\
1 name - string a
2 devicePath - string a
""",
    "core_v1.AvoidPods": """\
1 preferAvoidPods list core_v1.PreferAvoidPodsEntry p
""",
    "core_v1.AzureDiskVolumeSource": """\
1 diskName - string a
2 diskURI - string a
3 cachingMode - string p
4 fsType - string p
5 readOnly - bool p
6 kind - string p
""",
    "core_v1.AzureFilePersistentVolumeSource": """\
1 secretName - string a
2 shareName - string a
3 readOnly - bool v
4 secretNamespace - string p
""",
    "core_v1.AzureFileVolumeSource": """\
1 secretName - string a
2 shareName - string a
3 readOnly - bool v
""",
    "core_v1.Binding": """\
1 metadata - meta_v1.ObjectMeta a
2 target - core_v1.ObjectReference a
""",
    "core_v1.CSIPersistentVolumeSource": """\
1 driver - string a
2 volumeHandle - string a
3 readOnly - bool v
4 fsType - string v
5 volumeAttributes map string p
6 controllerPublishSecretRef - core_v1.SecretReference p
7 nodeStageSecretRef - core_v1.SecretReference p
8 nodePublishSecretRef - core_v1.SecretReference p
9 controllerExpandSecretRef - core_v1.SecretReference p
10 nodeExpandSecretRef - core_v1.SecretReference p
""",
    "core_v1.CSIVolumeSource": """\
1 driver - string a
2 readOnly - bool p
3 fsType - string p
4 volumeAttributes map string p
5 nodePublishSecretRef - core_v1.LocalObjectReference p
""",
    "core_v1.Capabilities": """\
1 add list string p
2 drop list string p
""",
    "core_v1.CephFSPersistentVolumeSource": """\
1 monitors list string p
2 path - string v
3 user - string v
4 secretFile - string v
5 secretRef - core_v1.SecretReference p
6 readOnly - bool v
""",
    "core_v1.CephFSVolumeSource": """\
1 monitors list string p
2 path - string v
3 user - string v
4 secretFile - string v
5 secretRef - core_v1.LocalObjectReference p
6 readOnly - bool v
""",
    "core_v1.CinderPersistentVolumeSource": """\
1 volumeID - string a
2 fsType - string v
3 readOnly - bool v
4 secretRef - core_v1.SecretReference p
""",
    "core_v1.CinderVolumeSource": """\
1 volumeID - string a
2 fsType - string v
3 readOnly - bool v
4 secretRef - core_v1.LocalObjectReference p
""",
    "core_v1.ClientIPConfig": """\
1 timeoutSeconds - int32 p
""",
    "core_v1.ClusterTrustBundleProjection": """\
1 name - string p
2 signerName - string p
3 labelSelector - meta_v1.LabelSelector p
4 path - string a
5 optional - bool p
6 user - int64 p
""",
    "core_v1.ComponentCondition": """\
1 type - string a
2 status - string a
3 message - string v
4 error - string v
""",
    "core_v1.ComponentStatus": """\
1 metadata - meta_v1.ObjectMeta a
2 conditions list core_v1.ComponentCondition p
""",
    "core_v1.ComponentStatusList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.ComponentStatus p
""",
    "core_v1.ConfigMap": """\
1 metadata - meta_v1.ObjectMeta a
2 data map string p
3 binaryData map bytes p
4 immutable - bool p
""",
    "core_v1.ConfigMapEnvSource": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 optional - bool p
""",
    "core_v1.ConfigMapKeySelector": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 key - string a
3 optional - bool p
""",
    "core_v1.ConfigMapList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.ConfigMap p
""",
    "core_v1.ConfigMapNodeConfigSource": """\
1 namespace - string a
2 name - string a
3 uid - string v
4 resourceVersion - string v
5 kubeletConfigKey - string a
""",
    "core_v1.ConfigMapProjection": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 items list core_v1.KeyToPath p
4 optional - bool p
""",
    "core_v1.ConfigMapVolumeSource": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 items list core_v1.KeyToPath p
3 defaultMode - int32 p
4 optional - bool p
5 defaultUser - int64 p
""",
    "core_v1.Container": """\
1 name - string a
2 image - string v
3 command list string p
4 args list string p
5 workingDir - string v
6 ports list core_v1.ContainerPort p
7 env list core_v1.EnvVar p
8 resources - core_v1.ResourceRequirements a
9 volumeMounts list core_v1.VolumeMount p
10 livenessProbe - core_v1.Probe p
11 readinessProbe - core_v1.Probe p
12 lifecycle - core_v1.Lifecycle p
13 terminationMessagePath - string v
14 imagePullPolicy - string v
15 securityContext - core_v1.SecurityContext p
16 stdin - bool v
17 stdinOnce - bool v
18 tty - bool v
19 envFrom list core_v1.EnvFromSource p
20 terminationMessagePolicy - string v
21 volumeDevices list core_v1.VolumeDevice p
22 startupProbe - core_v1.Probe p
23 resizePolicy list core_v1.ContainerResizePolicy p
24 restartPolicy - string p
25 restartPolicyRules list core_v1.ContainerRestartRule p
""",
    "core_v1.ContainerExtendedResourceRequest": """\
1 containerName - string a
2 resourceName - string a
3 requestName - string a
""",
    "core_v1.ContainerImage": """\
1 names list string p
2 sizeBytes - int64 v
""",
    "core_v1.ContainerPort": """\
1 name - string v
2 hostPort - int32 v
3 containerPort - int32 a
4 protocol - string v
5 hostIP - string v
""",
    "core_v1.ContainerResizePolicy": """\
1 resourceName - string a
2 restartPolicy - string a
""",
    "core_v1.ContainerRestartRule": """\
1 action - string v
2 exitCodes - core_v1.ContainerRestartRuleOnExitCodes p
""",
    "core_v1.ContainerRestartRuleOnExitCodes": """\
1 operator - string v
2 values list int32 p
""",
    "core_v1.ContainerState": """\
1 waiting - core_v1.ContainerStateWaiting p
2 running - core_v1.ContainerStateRunning p
3 terminated - core_v1.ContainerStateTerminated p
""",
    "core_v1.ContainerStateRunning": """\
1 startedAt - Time n
""",
    "core_v1.ContainerStateTerminated": """\
1 exitCode - int32 a
2 signal - int32 v
3 reason - string v
4 message - string v
5 startedAt - Time n
6 finishedAt - Time n
7 containerID - string v
""",
    "core_v1.ContainerStateWaiting": """\
1 reason - string v
2 message - string v
""",
    "core_v1.ContainerStatus": """\
1 name - string a
2 state - core_v1.ContainerState a
3 lastState - core_v1.ContainerState a
4 ready - bool a
5 restartCount - int32 a
6 image - string a
7 imageID - string a
8 containerID - string v
9 started - bool p
10 allocatedResources map Quantity p
11 resources - core_v1.ResourceRequirements p
12 volumeMounts list core_v1.VolumeMountStatus p
13 user - core_v1.ContainerUser p
14 allocatedResourcesStatus list core_v1.ResourceStatus p
15 stopSignal - string p
""",
    "core_v1.ContainerUser": """\
1 linux - core_v1.LinuxContainerUser p
""",
    "core_v1.DaemonEndpoint": """\
1 Port - int32 a
""",
    "core_v1.DownwardAPIProjection": """\
1 items list core_v1.DownwardAPIVolumeFile p
""",
    "core_v1.DownwardAPIVolumeFile": """\
1 path - string a
2 fieldRef - core_v1.ObjectFieldSelector p
3 resourceFieldRef - core_v1.ResourceFieldSelector p
4 mode - int32 p
5 user - int64 p
""",
    "core_v1.DownwardAPIVolumeSource": """\
1 items list core_v1.DownwardAPIVolumeFile p
2 defaultMode - int32 p
3 defaultUser - int64 p
""",
    "core_v1.EmptyDirVolumeSource": """\
1 medium - string v
2 sizeLimit - Quantity p
3 mode - int32 p
""",
    "core_v1.EndpointAddress": """\
1 ip - string a
2 targetRef - core_v1.ObjectReference p
3 hostname - string v
4 nodeName - string p
""",
    "core_v1.EndpointPort": """\
1 name - string v
2 port - int32 a
3 protocol - string v
4 appProtocol - string p
""",
    "core_v1.EndpointSubset": """\
1 addresses list core_v1.EndpointAddress p
2 notReadyAddresses list core_v1.EndpointAddress p
3 ports list core_v1.EndpointPort p
""",
    "core_v1.Endpoints": """\
1 metadata - meta_v1.ObjectMeta a
2 subsets list core_v1.EndpointSubset p
""",
    "core_v1.EndpointsList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Endpoints p
""",
    "core_v1.EnvFromSource": """\
1 prefix - string v
2 configMapRef - core_v1.ConfigMapEnvSource p
3 secretRef - core_v1.SecretEnvSource p
""",
    "core_v1.EnvVar": """\
1 name - string a
2 value - string v
3 valueFrom - core_v1.EnvVarSource p
""",
    "core_v1.EnvVarSource": """\
1 fieldRef - core_v1.ObjectFieldSelector p
2 resourceFieldRef - core_v1.ResourceFieldSelector p
3 configMapKeyRef - core_v1.ConfigMapKeySelector p
4 secretKeyRef - core_v1.SecretKeySelector p
5 fileKeyRef - core_v1.FileKeySelector p
""",
    "core_v1.EphemeralContainer": """\
1 ephemeralContainerCommon inline core_v1.EphemeralContainerCommon p
2 targetContainerName - string v
""",
    "core_v1.EphemeralContainerCommon": """\
1 name - string a
2 image - string v
3 command list string p
4 args list string p
5 workingDir - string v
6 ports list core_v1.ContainerPort p
7 env list core_v1.EnvVar p
8 resources - core_v1.ResourceRequirements a
9 volumeMounts list core_v1.VolumeMount p
10 livenessProbe - core_v1.Probe p
11 readinessProbe - core_v1.Probe p
12 lifecycle - core_v1.Lifecycle p
13 terminationMessagePath - string v
14 imagePullPolicy - string v
15 securityContext - core_v1.SecurityContext p
16 stdin - bool v
17 stdinOnce - bool v
18 tty - bool v
19 envFrom list core_v1.EnvFromSource p
20 terminationMessagePolicy - string v
21 volumeDevices list core_v1.VolumeDevice p
22 startupProbe - core_v1.Probe p
23 resizePolicy list core_v1.ContainerResizePolicy p
24 restartPolicy - string p
25 restartPolicyRules list core_v1.ContainerRestartRule p
""",
    "core_v1.EphemeralVolumeSource": """\
1 volumeClaimTemplate - core_v1.PersistentVolumeClaimTemplate p
""",
    "core_v1.Event": """\
1 metadata - meta_v1.ObjectMeta a
2 involvedObject - core_v1.ObjectReference a
3 reason - string v
4 message - string v
5 source - core_v1.EventSource a
6 firstTimestamp - Time n
7 lastTimestamp - Time n
8 count - int32 v
9 type - string v
10 eventTime - MicroTime n
11 series - core_v1.EventSeries p
12 action - string v
13 related - core_v1.ObjectReference p
14 reportingComponent - string a
15 reportingInstance - string a
""",
    "core_v1.EventList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Event p
""",
    "core_v1.EventSeries": """\
1 count - int32 v
2 lastObservedTime - MicroTime n
""",
    "core_v1.EventSource": """\
1 component - string v
2 host - string v
""",
    "core_v1.EvictionResponder": """\
1 name - string a
2 priority - int32 p
""",
    "core_v1.ExecAction": """\
1 command list string p
""",
    "core_v1.FCVolumeSource": """\
1 targetWWNs list string p
2 lun - int32 p
3 fsType - string v
4 readOnly - bool v
5 wwids list string p
""",
    "core_v1.FileKeySelector": """\
1 volumeName - string a
2 path - string a
3 key - string a
4 optional - bool p
""",
    "core_v1.FlexPersistentVolumeSource": """\
1 driver - string a
2 fsType - string v
3 secretRef - core_v1.SecretReference p
4 readOnly - bool v
5 options map string p
""",
    "core_v1.FlexVolumeSource": """\
1 driver - string a
2 fsType - string v
3 secretRef - core_v1.LocalObjectReference p
4 readOnly - bool v
5 options map string p
""",
    "core_v1.FlockerVolumeSource": """\
1 datasetName - string v
2 datasetUUID - string v
""",
    "core_v1.GCEPersistentDiskVolumeSource": """\
1 pdName - string a
2 fsType - string v
3 partition - int32 v
4 readOnly - bool v
""",
    "core_v1.GRPCAction": """\
1 port - int32 a
2 service - string p
3 mode - string p
""",
    "core_v1.GitRepoVolumeSource": """\
1 repository - string a
2 revision - string v
3 directory - string v
""",
    "core_v1.GlusterfsPersistentVolumeSource": """\
1 endpoints - string a
2 path - string a
3 readOnly - bool v
4 endpointsNamespace - string p
""",
    "core_v1.GlusterfsVolumeSource": """\
1 endpoints - string a
2 path - string a
3 readOnly - bool v
""",
    "core_v1.HTTPGetAction": """\
1 path - string v
2 port - IntOrString a
3 host - string v
4 scheme - string v
5 httpHeaders list core_v1.HTTPHeader p
6 protocol - string p
""",
    "core_v1.HTTPHeader": """\
1 name - string a
2 value - string a
""",
    "core_v1.HostAlias": """\
1 ip - string a
2 hostnames list string p
""",
    "core_v1.HostIP": """\
1 ip - string a
""",
    "core_v1.HostPathVolumeSource": """\
1 path - string a
2 type - string p
""",
    "core_v1.ISCSIPersistentVolumeSource": """\
1 targetPortal - string a
2 iqn - string a
3 lun - int32 a
4 iscsiInterface - string v
5 fsType - string v
6 readOnly - bool v
7 portals list string p
8 chapAuthDiscovery - bool v
10 secretRef - core_v1.SecretReference p
11 chapAuthSession - bool v
12 initiatorName - string p
""",
    "core_v1.ISCSIVolumeSource": """\
1 targetPortal - string a
2 iqn - string a
3 lun - int32 a
4 iscsiInterface - string v
5 fsType - string v
6 readOnly - bool v
7 portals list string p
8 chapAuthDiscovery - bool v
10 secretRef - core_v1.LocalObjectReference p
11 chapAuthSession - bool v
12 initiatorName - string p
""",
    "core_v1.ImageVolumeSource": """\
1 reference - string v
2 pullPolicy - string v
""",
    "core_v1.ImageVolumeStatus": """\
1 imageRef - string v
""",
    "core_v1.KeyToPath": """\
1 key - string a
2 path - string a
3 mode - int32 p
4 user - int64 p
""",
    "core_v1.Lifecycle": """\
1 postStart - core_v1.LifecycleHandler p
2 preStop - core_v1.LifecycleHandler p
3 stopSignal - string p
""",
    "core_v1.LifecycleHandler": """\
1 exec - core_v1.ExecAction p
2 httpGet - core_v1.HTTPGetAction p
3 tcpSocket - core_v1.TCPSocketAction p
4 sleep - core_v1.SleepAction p
""",
    "core_v1.LimitRange": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.LimitRangeSpec a
""",
    "core_v1.LimitRangeItem": """\
1 type - string a
2 max map Quantity p
3 min map Quantity p
4 default map Quantity p
5 defaultRequest map Quantity p
6 maxLimitRequestRatio map Quantity p
""",
    "core_v1.LimitRangeList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.LimitRange p
""",
    "core_v1.LimitRangeSpec": """\
1 limits list core_v1.LimitRangeItem p
""",
    "core_v1.LinuxContainerUser": """\
1 uid - int64 a
2 gid - int64 a
3 supplementalGroups list int64 p
""",
    "core_v1.List": """\
1 metadata - meta_v1.ListMeta a
2 items list Raw p
""",
    "core_v1.LoadBalancerIngress": """\
1 ip - string v
2 hostname - string v
3 ipMode - string p
4 ports list core_v1.PortStatus p
""",
    "core_v1.LoadBalancerStatus": """\
1 ingress list core_v1.LoadBalancerIngress p
""",
    "core_v1.LocalObjectReference": """\
1 name - string v
""",
    "core_v1.LocalVolumeSource": """\
1 path - string a
2 fsType - string p
""",
    "core_v1.ModifyVolumeStatus": """\
1 targetVolumeAttributesClassName - string v
2 status - string a
""",
    "core_v1.NFSVolumeSource": """\
1 server - string a
2 path - string a
3 readOnly - bool v
""",
    "core_v1.Namespace": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.NamespaceSpec a
3 status - core_v1.NamespaceStatus a
""",
    "core_v1.NamespaceCondition": """\
1 type - string a
2 status - string a
4 lastTransitionTime - Time n
5 reason - string v
6 message - string v
""",
    "core_v1.NamespaceList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Namespace p
""",
    "core_v1.NamespaceSpec": """\
1 finalizers list string p
""",
    "core_v1.NamespaceStatus": """\
1 phase - string v
2 conditions list core_v1.NamespaceCondition p
""",
    "core_v1.Node": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.NodeSpec a
3 status - core_v1.NodeStatus a
""",
    "core_v1.NodeAddress": """\
1 type - string a
2 address - string a
""",
    "core_v1.NodeAffinity": """\
1 requiredDuringSchedulingIgnoredDuringExecution - core_v1.NodeSelector p
2 preferredDuringSchedulingIgnoredDuringExecution list core_v1.PreferredSchedulingTerm p
""",
    "core_v1.NodeAllocatableMappedResources": """\
1 name - string a
2 quantity - Quantity p
""",
    "core_v1.NodeAllocatableOverheadResources": """\
1 name - string a
2 perPod - Quantity p
3 perContainer - Quantity p
""",
    "core_v1.NodeAllocatableResourceClaimStatus": """\
1 resourceClaimName - string a
2 containers list string p
4 mapping list core_v1.NodeAllocatableMappedResources p
5 overhead list core_v1.NodeAllocatableOverheadResources p
""",
    "core_v1.NodeCondition": """\
1 type - string a
2 status - string a
3 lastHeartbeatTime - Time n
4 lastTransitionTime - Time n
5 reason - string v
6 message - string v
""",
    "core_v1.NodeConfigSource": """\
2 configMap - core_v1.ConfigMapNodeConfigSource p
""",
    "core_v1.NodeConfigStatus": """\
1 assigned - core_v1.NodeConfigSource p
2 active - core_v1.NodeConfigSource p
3 lastKnownGood - core_v1.NodeConfigSource p
4 error - string v
""",
    "core_v1.NodeDaemonEndpoints": """\
1 kubeletEndpoint - core_v1.DaemonEndpoint a
""",
    "core_v1.NodeFeatures": """\
1 supplementalGroupsPolicy - bool p
""",
    "core_v1.NodeList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Node p
""",
    "core_v1.NodePodPreemptionPolicy": """\
1 disableResizePreemption list string p
""",
    "core_v1.NodeProxyOptions": """\
1 path - string v
""",
    "core_v1.NodeRuntimeHandler": """\
1 name - string a
2 features - core_v1.NodeRuntimeHandlerFeatures p
""",
    "core_v1.NodeRuntimeHandlerFeatures": """\
1 recursiveReadOnlyMounts - bool p
2 userNamespaces - bool p
""",
    "core_v1.NodeSelector": """\
1 nodeSelectorTerms list core_v1.NodeSelectorTerm p
""",
    "core_v1.NodeSelectorRequirement": """\
1 key - string a
2 operator - string a
3 values list string p
""",
    "core_v1.NodeSelectorTerm": """\
1 matchExpressions list core_v1.NodeSelectorRequirement p
2 matchFields list core_v1.NodeSelectorRequirement p
""",
    "core_v1.NodeSpec": """\
1 podCIDR - string v
2 externalID - string v
3 providerID - string v
4 unschedulable - bool v
5 taints list core_v1.Taint p
6 configSource - core_v1.NodeConfigSource p
7 podCIDRs list string p
8 podPreemptionPolicy - core_v1.NodePodPreemptionPolicy p
""",
    "core_v1.NodeStatus": """\
1 capacity map Quantity p
2 allocatable map Quantity p
3 phase - string v
4 conditions list core_v1.NodeCondition p
5 addresses list core_v1.NodeAddress p
6 daemonEndpoints - core_v1.NodeDaemonEndpoints a
7 nodeInfo - core_v1.NodeSystemInfo a
8 images list core_v1.ContainerImage p
9 volumesInUse list string p
10 volumesAttached list core_v1.AttachedVolume p
11 config - core_v1.NodeConfigStatus p
12 runtimeHandlers list core_v1.NodeRuntimeHandler p
13 features - core_v1.NodeFeatures p
14 declaredFeatures list string p
""",
    "core_v1.NodeSwapStatus": """\
1 capacity - int64 p
""",
    "core_v1.NodeSystemInfo": """\
1 machineID - string a
2 systemUUID - string a
3 bootID - string a
4 kernelVersion - string a
5 osImage - string a
6 containerRuntimeVersion - string a
7 kubeletVersion - string a
8 kubeProxyVersion - string a
9 operatingSystem - string a
10 architecture - string a
11 swap - core_v1.NodeSwapStatus p
12 runningInUserNamespace - bool p
""",
    "core_v1.ObjectFieldSelector": """\
1 apiVersion - string v
2 fieldPath - string a
""",
    "core_v1.ObjectReference": """\
1 kind - string v
2 namespace - string v
3 name - string v
4 uid - string v
5 apiVersion - string v
6 resourceVersion - string v
7 fieldPath - string v
""",
    "core_v1.PersistentVolume": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.PersistentVolumeSpec a
3 status - core_v1.PersistentVolumeStatus a
""",
    "core_v1.PersistentVolumeClaim": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.PersistentVolumeClaimSpec a
3 status - core_v1.PersistentVolumeClaimStatus a
""",
    "core_v1.PersistentVolumeClaimCondition": """\
1 type - string a
2 status - string a
3 lastProbeTime - Time n
4 lastTransitionTime - Time n
5 reason - string v
6 message - string v
""",
    "core_v1.PersistentVolumeClaimList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.PersistentVolumeClaim p
""",
    "core_v1.PersistentVolumeClaimSpec": """\
1 accessModes list string p
2 resources - core_v1.VolumeResourceRequirements a
3 volumeName - string v
4 selector - meta_v1.LabelSelector p
5 storageClassName - string p
6 volumeMode - string p
7 dataSource - core_v1.TypedLocalObjectReference p
8 dataSourceRef - core_v1.TypedObjectReference p
9 volumeAttributesClassName - string p
""",
    "core_v1.PersistentVolumeClaimStatus": """\
1 phase - string v
2 accessModes list string p
3 capacity map Quantity p
4 conditions list core_v1.PersistentVolumeClaimCondition p
5 allocatedResources map Quantity p
7 allocatedResourceStatuses map string p
8 currentVolumeAttributesClassName - string p
9 modifyVolumeStatus - core_v1.ModifyVolumeStatus p
10 healthStatus - core_v1.VolumeHealthStatus p
""",
    "core_v1.PersistentVolumeClaimTemplate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.PersistentVolumeClaimSpec a
""",
    "core_v1.PersistentVolumeClaimVolumeSource": """\
1 claimName - string a
2 readOnly - bool v
""",
    "core_v1.PersistentVolumeList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.PersistentVolume p
""",
    "core_v1.PersistentVolumeSource": """\
1 gcePersistentDisk - core_v1.GCEPersistentDiskVolumeSource p
2 awsElasticBlockStore - core_v1.AWSElasticBlockStoreVolumeSource p
3 hostPath - core_v1.HostPathVolumeSource p
4 glusterfs - core_v1.GlusterfsPersistentVolumeSource p
5 nfs - core_v1.NFSVolumeSource p
6 rbd - core_v1.RBDPersistentVolumeSource p
7 iscsi - core_v1.ISCSIPersistentVolumeSource p
8 cinder - core_v1.CinderPersistentVolumeSource p
9 cephfs - core_v1.CephFSPersistentVolumeSource p
10 fc - core_v1.FCVolumeSource p
11 flocker - core_v1.FlockerVolumeSource p
12 flexVolume - core_v1.FlexPersistentVolumeSource p
13 azureFile - core_v1.AzureFilePersistentVolumeSource p
14 vsphereVolume - core_v1.VsphereVirtualDiskVolumeSource p
15 quobyte - core_v1.QuobyteVolumeSource p
16 azureDisk - core_v1.AzureDiskVolumeSource p
17 photonPersistentDisk - core_v1.PhotonPersistentDiskVolumeSource p
18 portworxVolume - core_v1.PortworxVolumeSource p
19 scaleIO - core_v1.ScaleIOPersistentVolumeSource p
20 local - core_v1.LocalVolumeSource p
21 storageos - core_v1.StorageOSPersistentVolumeSource p
22 csi - core_v1.CSIPersistentVolumeSource p
""",
    "core_v1.PersistentVolumeSpec": """\
1 capacity map Quantity p
2 persistentVolumeSource inline core_v1.PersistentVolumeSource p
3 accessModes list string p
4 claimRef - core_v1.ObjectReference p
5 persistentVolumeReclaimPolicy - string v
6 storageClassName - string v
7 mountOptions list string p
8 volumeMode - string p
9 nodeAffinity - core_v1.VolumeNodeAffinity p
10 volumeAttributesClassName - string p
""",
    "core_v1.PersistentVolumeStatus": """\
1 phase - string v
2 message - string v
3 reason - string v
4 lastPhaseTransitionTime - Time p
""",
    "core_v1.PhotonPersistentDiskVolumeSource": """\
1 pdID - string a
2 fsType - string v
""",
    "core_v1.Pod": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.PodSpec a
3 status - core_v1.PodStatus a
""",
    "core_v1.PodAffinity": """\
1 requiredDuringSchedulingIgnoredDuringExecution list core_v1.PodAffinityTerm p
2 preferredDuringSchedulingIgnoredDuringExecution list core_v1.WeightedPodAffinityTerm p
""",
    "core_v1.PodAffinityTerm": """\
1 labelSelector - meta_v1.LabelSelector p
2 namespaces list string p
3 topologyKey - string a
4 namespaceSelector - meta_v1.LabelSelector p
5 matchLabelKeys list string p
6 mismatchLabelKeys list string p
""",
    "core_v1.PodAntiAffinity": """\
1 requiredDuringSchedulingIgnoredDuringExecution list core_v1.PodAffinityTerm p
2 preferredDuringSchedulingIgnoredDuringExecution list core_v1.WeightedPodAffinityTerm p
""",
    "core_v1.PodAttachOptions": """\
1 stdin - bool v
2 stdout - bool v
3 stderr - bool v
4 tty - bool v
5 container - string v
""",
    "core_v1.PodCertificateProjection": """\
1 signerName - string v
2 keyType - string v
3 maxExpirationSeconds - int32 p
4 credentialBundlePath - string v
5 keyPath - string v
6 certificateChainPath - string v
7 userAnnotations map string p
8 user - int64 p
""",
    "core_v1.PodCondition": """\
1 type - string a
2 status - string a
3 lastProbeTime - Time n
4 lastTransitionTime - Time n
5 reason - string v
6 message - string v
7 observedGeneration - int64 v
""",
    "core_v1.PodDNSConfig": """\
1 nameservers list string p
2 searches list string p
3 options list core_v1.PodDNSConfigOption p
""",
    "core_v1.PodDNSConfigOption": """\
1 name - string v
2 value - string p
""",
    "core_v1.PodExecOptions": """\
1 stdin - bool v
2 stdout - bool v
3 stderr - bool v
4 tty - bool v
5 container - string v
6 command list string p
""",
    "core_v1.PodExtendedResourceClaimStatus": """\
1 requestMappings list core_v1.ContainerExtendedResourceRequest p
2 resourceClaimName - string a
""",
    "core_v1.PodIP": """\
1 ip - string a
""",
    "core_v1.PodList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Pod p
""",
    "core_v1.PodLogOptions": """\
1 container - string v
2 follow - bool v
3 previous - bool v
4 sinceSeconds - int64 p
5 sinceTime - Time p
6 timestamps - bool v
7 tailLines - int64 p
8 limitBytes - int64 p
9 insecureSkipTLSVerifyBackend - bool v
10 stream - string p
""",
    "core_v1.PodOS": """\
1 name - string a
""",
    "core_v1.PodPortForwardOptions": """\
1 ports list int32 p
""",
    "core_v1.PodProxyOptions": """\
1 path - string v
""",
    "core_v1.PodReadinessGate": """\
1 conditionType - string a
""",
    "core_v1.PodResourceClaim": """\
1 name - string a
3 resourceClaimName - string p
4 resourceClaimTemplateName - string p
""",
    "core_v1.PodResourceClaimStatus": """\
1 name - string a
2 resourceClaimName - string p
""",
    "core_v1.PodSchedulingGate": """\
1 name - string a
""",
    "core_v1.PodSchedulingGroup": """\
1 podGroupName - string p
""",
    "core_v1.PodSecurityContext": """\
1 seLinuxOptions - core_v1.SELinuxOptions p
2 runAsUser - int64 p
3 runAsNonRoot - bool p
4 supplementalGroups list int64 p
5 fsGroup - int64 p
6 runAsGroup - int64 p
7 sysctls list core_v1.Sysctl p
8 windowsOptions - core_v1.WindowsSecurityContextOptions p
9 fsGroupChangePolicy - string p
10 seccompProfile - core_v1.SeccompProfile p
11 appArmorProfile - core_v1.AppArmorProfile p
12 supplementalGroupsPolicy - string p
13 seLinuxChangePolicy - string p
""",
    "core_v1.PodSignature": """\
1 podController - meta_v1.OwnerReference p
""",
    "core_v1.PodSpec": """\
1 volumes list core_v1.Volume p
2 containers list core_v1.Container p
3 restartPolicy - string v
4 terminationGracePeriodSeconds - int64 p
5 activeDeadlineSeconds - int64 p
6 dnsPolicy - string v
7 nodeSelector map string p
8 serviceAccountName - string v
9 serviceAccount - string v
10 nodeName - string v
11 hostNetwork - bool v
12 hostPID - bool v
13 hostIPC - bool v
14 securityContext - core_v1.PodSecurityContext p
15 imagePullSecrets list core_v1.LocalObjectReference p
16 hostname - string v
17 subdomain - string v
18 affinity - core_v1.Affinity p
19 schedulerName - string v
20 initContainers list core_v1.Container p
21 automountServiceAccountToken - bool p
22 tolerations list core_v1.Toleration p
23 hostAliases list core_v1.HostAlias p
24 priorityClassName - string v
25 priority - int32 p
26 dnsConfig - core_v1.PodDNSConfig p
27 shareProcessNamespace - bool p
28 readinessGates list core_v1.PodReadinessGate p
29 runtimeClassName - string p
30 enableServiceLinks - bool p
31 preemptionPolicy - string p
32 overhead map Quantity p
33 topologySpreadConstraints list core_v1.TopologySpreadConstraint p
34 ephemeralContainers list core_v1.EphemeralContainer p
35 setHostnameAsFQDN - bool p
36 os - core_v1.PodOS p
37 hostUsers - bool p
38 schedulingGates list core_v1.PodSchedulingGate p
39 resourceClaims list core_v1.PodResourceClaim p
40 resources - core_v1.ResourceRequirements p
41 hostnameOverride - string p
43 schedulingGroup - core_v1.PodSchedulingGroup p
44 evictionResponders list core_v1.EvictionResponder p
""",
    "core_v1.PodStatus": """\
1 phase - string v
2 conditions list core_v1.PodCondition p
3 message - string v
4 reason - string v
5 hostIP - string v
6 podIP - string v
7 startTime - Time p
8 containerStatuses list core_v1.ContainerStatus p
9 qosClass - string v
10 initContainerStatuses list core_v1.ContainerStatus p
11 nominatedNodeName - string v
12 podIPs list core_v1.PodIP p
13 ephemeralContainerStatuses list core_v1.ContainerStatus p
14 resize - string v
15 resourceClaimStatuses list core_v1.PodResourceClaimStatus p
16 hostIPs list core_v1.HostIP p
17 observedGeneration - int64 v
18 extendedResourceClaimStatus - core_v1.PodExtendedResourceClaimStatus p
19 allocatedResources map Quantity p
20 resources - core_v1.ResourceRequirements p
21 nodeAllocatableResourceClaimStatuses list core_v1.NodeAllocatableResourceClaimStatus p
22 volumeHealth list core_v1.PodVolumeHealth p
""",
    "core_v1.PodTemplate": """\
1 metadata - meta_v1.ObjectMeta a
2 template - core_v1.PodTemplateSpec a
""",
    "core_v1.PodTemplateList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.PodTemplate p
""",
    "core_v1.PodTemplateSpec": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.PodSpec a
""",
    "core_v1.PodVolumeHealth": """\
1 name - string a
2 healthConditions list core_v1.VolumeHealthCondition p
3 lastTransitionTime - Time n
""",
    "core_v1.PortStatus": """\
1 port - int32 a
2 protocol - string a
3 error - string p
""",
    "core_v1.PortworxVolumeSource": """\
1 volumeID - string a
2 fsType - string v
3 readOnly - bool v
""",
    "core_v1.Preconditions": """\
1 uid - string p
""",
    "core_v1.PreferAvoidPodsEntry": """\
1 podSignature - core_v1.PodSignature p
2 evictionTime - Time p
3 reason - string p
4 message - string p
""",
    "core_v1.PreferredSchedulingTerm": """\
1 weight - int32 a
2 preference - core_v1.NodeSelectorTerm a
""",
    "core_v1.Probe": """\
1 handler inline core_v1.ProbeHandler p
2 initialDelaySeconds - int32 v
3 timeoutSeconds - int32 v
4 periodSeconds - int32 v
5 successThreshold - int32 v
6 failureThreshold - int32 v
7 terminationGracePeriodSeconds - int64 p
""",
    "core_v1.ProbeHandler": """\
1 exec - core_v1.ExecAction p
2 httpGet - core_v1.HTTPGetAction p
3 tcpSocket - core_v1.TCPSocketAction p
4 grpc - core_v1.GRPCAction p
""",
    "core_v1.ProjectedVolumeSource": """\
1 sources list core_v1.VolumeProjection p
2 defaultMode - int32 p
3 defaultUser - int64 p
""",
    "core_v1.QuobyteVolumeSource": """\
1 registry - string a
2 volume - string a
3 readOnly - bool v
4 user - string v
5 group - string v
6 tenant - string v
""",
    "core_v1.RBDPersistentVolumeSource": """\
1 monitors list string p
2 image - string a
3 fsType - string v
4 pool - string v
5 user - string v
6 keyring - string v
7 secretRef - core_v1.SecretReference p
8 readOnly - bool v
""",
    "core_v1.RBDVolumeSource": """\
1 monitors list string p
2 image - string a
3 fsType - string v
4 pool - string v
5 user - string v
6 keyring - string v
7 secretRef - core_v1.LocalObjectReference p
8 readOnly - bool v
""",
    "core_v1.RangeAllocation": """\
1 metadata - meta_v1.ObjectMeta a
2 range - string a
3 data - bytes p
""",
    "core_v1.ReplicationController": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.ReplicationControllerSpec a
3 status - core_v1.ReplicationControllerStatus a
""",
    "core_v1.ReplicationControllerCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "core_v1.ReplicationControllerList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.ReplicationController p
""",
    "core_v1.ReplicationControllerSpec": """\
1 replicas - int32 p
2 selector map string p
3 template - core_v1.PodTemplateSpec p
4 minReadySeconds - int32 v
""",
    "core_v1.ReplicationControllerStatus": """\
1 replicas - int32 a
2 fullyLabeledReplicas - int32 v
3 observedGeneration - int64 v
4 readyReplicas - int32 v
5 availableReplicas - int32 v
6 conditions list core_v1.ReplicationControllerCondition p
""",
    "core_v1.ResourceClaim": """\
1 name - string a
2 request - string v
""",
    "core_v1.ResourceFieldSelector": """\
1 containerName - string v
2 resource - string a
3 divisor - Quantity a
""",
    "core_v1.ResourceHealth": """\
1 resourceID - string a
2 health - string v
6 message - string p
""",
    "core_v1.ResourceQuota": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.ResourceQuotaSpec a
3 status - core_v1.ResourceQuotaStatus a
""",
    "core_v1.ResourceQuotaList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.ResourceQuota p
""",
    "core_v1.ResourceQuotaSpec": """\
1 hard map Quantity p
2 scopes list string p
3 scopeSelector - core_v1.ScopeSelector p
""",
    "core_v1.ResourceQuotaStatus": """\
1 hard map Quantity p
2 used map Quantity p
""",
    "core_v1.ResourceRequirements": """\
1 limits map Quantity p
2 requests map Quantity p
3 claims list core_v1.ResourceClaim p
""",
    "core_v1.ResourceStatus": """\
1 name - string a
2 resources list core_v1.ResourceHealth p
""",
    "core_v1.SELinuxOptions": """\
1 user - string v
2 role - string v
3 type - string v
4 level - string v
""",
    "core_v1.ScaleIOPersistentVolumeSource": """\
1 gateway - string a
2 system - string a
3 secretRef - core_v1.SecretReference p
4 sslEnabled - bool v
5 protectionDomain - string v
6 storagePool - string v
7 storageMode - string v
8 volumeName - string v
9 fsType - string v
10 readOnly - bool v
""",
    "core_v1.ScaleIOVolumeSource": """\
1 gateway - string a
2 system - string a
3 secretRef - core_v1.LocalObjectReference p
4 sslEnabled - bool v
5 protectionDomain - string v
6 storagePool - string v
7 storageMode - string v
8 volumeName - string v
9 fsType - string v
10 readOnly - bool v
""",
    "core_v1.ScopeSelector": """\
1 matchExpressions list core_v1.ScopedResourceSelectorRequirement p
""",
    "core_v1.ScopedResourceSelectorRequirement": """\
1 scopeName - string a
2 operator - string a
3 values list string p
""",
    "core_v1.SeccompProfile": """\
1 type - string a
2 localhostProfile - string p
""",
    "core_v1.Secret": """\
1 metadata - meta_v1.ObjectMeta a
2 data map bytes p
3 type - string v
4 stringData map string p
5 immutable - bool p
""",
    "core_v1.SecretEnvSource": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 optional - bool p
""",
    "core_v1.SecretKeySelector": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 key - string a
3 optional - bool p
""",
    "core_v1.SecretList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Secret p
""",
    "core_v1.SecretProjection": """\
1 localObjectReference inline core_v1.LocalObjectReference p
2 items list core_v1.KeyToPath p
4 optional - bool p
""",
    "core_v1.SecretReference": """\
1 name - string v
2 namespace - string v
""",
    "core_v1.SecretVolumeSource": """\
1 secretName - string v
2 items list core_v1.KeyToPath p
3 defaultMode - int32 p
4 optional - bool p
5 defaultUser - int64 p
""",
    "core_v1.SecurityContext": """\
1 capabilities - core_v1.Capabilities p
2 privileged - bool p
3 seLinuxOptions - core_v1.SELinuxOptions p
4 runAsUser - int64 p
5 runAsNonRoot - bool p
6 readOnlyRootFilesystem - bool p
7 allowPrivilegeEscalation - bool p
8 runAsGroup - int64 p
9 procMount - string p
10 windowsOptions - core_v1.WindowsSecurityContextOptions p
11 seccompProfile - core_v1.SeccompProfile p
12 appArmorProfile - core_v1.AppArmorProfile p
""",
    "core_v1.SerializedReference": """\
1 reference - core_v1.ObjectReference a
""",
    "core_v1.Service": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - core_v1.ServiceSpec a
3 status - core_v1.ServiceStatus a
""",
    "core_v1.ServiceAccount": """\
1 metadata - meta_v1.ObjectMeta a
2 secrets list core_v1.ObjectReference p
3 imagePullSecrets list core_v1.LocalObjectReference p
4 automountServiceAccountToken - bool p
""",
    "core_v1.ServiceAccountList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.ServiceAccount p
""",
    "core_v1.ServiceAccountTokenProjection": """\
1 audience - string v
2 expirationSeconds - int64 p
3 path - string a
4 user - int64 p
""",
    "core_v1.ServiceList": """\
1 metadata - meta_v1.ListMeta a
2 items list core_v1.Service p
""",
    "core_v1.ServicePort": """\
1 name - string v
2 protocol - string v
3 port - int32 a
4 targetPort - IntOrString a
5 nodePort - int32 v
6 appProtocol - string p
""",
    "core_v1.ServiceProxyOptions": """\
1 path - string v
""",
    "core_v1.ServiceSpec": """\
1 ports list core_v1.ServicePort p
2 selector map string p
3 clusterIP - string v
4 type - string v
5 externalIPs list string p
7 sessionAffinity - string v
8 loadBalancerIP - string v
9 loadBalancerSourceRanges list string p
10 externalName - string v
11 externalTrafficPolicy - string v
12 healthCheckNodePort - int32 v
13 publishNotReadyAddresses - bool v
14 sessionAffinityConfig - core_v1.SessionAffinityConfig p
17 ipFamilyPolicy - string p
18 clusterIPs list string p
19 ipFamilies list string p
20 allocateLoadBalancerNodePorts - bool p
21 loadBalancerClass - string p
22 internalTrafficPolicy - string p
23 trafficDistribution - string p
""",
    "core_v1.ServiceStatus": """\
1 loadBalancer - core_v1.LoadBalancerStatus a
2 conditions list meta_v1.Condition p
""",
    "core_v1.SessionAffinityConfig": """\
1 clientIP - core_v1.ClientIPConfig p
""",
    "core_v1.SleepAction": """\
1 seconds - int64 a
""",
    "core_v1.StorageOSPersistentVolumeSource": """\
1 volumeName - string v
2 volumeNamespace - string v
3 fsType - string v
4 readOnly - bool v
5 secretRef - core_v1.ObjectReference p
""",
    "core_v1.StorageOSVolumeSource": """\
1 volumeName - string v
2 volumeNamespace - string v
3 fsType - string v
4 readOnly - bool v
5 secretRef - core_v1.LocalObjectReference p
""",
    "core_v1.Sysctl": """\
1 name - string a
2 value - string a
""",
    "core_v1.TCPSocketAction": """\
1 port - IntOrString a
2 host - string v
""",
    "core_v1.Taint": """\
1 key - string a
2 value - string v
3 effect - string a
4 timeAdded - Time p
""",
    "core_v1.Toleration": """\
1 key - string v
2 operator - string v
3 value - string v
4 effect - string v
5 tolerationSeconds - int64 p
""",
    "core_v1.TopologySelectorLabelRequirement": """\
1 key - string a
2 values list string p
""",
    "core_v1.TopologySelectorTerm": """\
1 matchLabelExpressions list core_v1.TopologySelectorLabelRequirement p
""",
    "core_v1.TopologySpreadConstraint": """\
1 maxSkew - int32 a
2 topologyKey - string a
3 whenUnsatisfiable - string a
4 labelSelector - meta_v1.LabelSelector p
5 minDomains - int32 p
6 nodeAffinityPolicy - string p
7 nodeTaintsPolicy - string p
8 matchLabelKeys list string p
""",
    "core_v1.TypedLocalObjectReference": """\
1 apiGroup - string p
2 kind - string a
3 name - string a
""",
    "core_v1.TypedObjectReference": """\
1 apiGroup - string p
2 kind - string a
3 name - string a
4 namespace - string p
""",
    "core_v1.Volume": """\
1 name - string a
2 volumeSource inline core_v1.VolumeSource p
""",
    "core_v1.VolumeDevice": """\
1 name - string a
2 devicePath - string a
""",
    "core_v1.VolumeHealthCondition": """\
1 status - string a
2 reason - string a
3 message - string v
""",
    "core_v1.VolumeHealthStatus": """\
1 healthConditions list core_v1.VolumeHealthCondition p
2 lastTransitionTime - Time n
""",
    "core_v1.VolumeMount": """\
1 name - string a
2 readOnly - bool v
3 mountPath - string a
4 subPath - string v
5 mountPropagation - string p
6 subPathExpr - string v
7 recursiveReadOnly - string p
8 bindMountOptions list string p
""",
    "core_v1.VolumeMountStatus": """\
1 name - string a
2 mountPath - string a
3 readOnly - bool v
4 recursiveReadOnly - string p
5 volumeStatus - core_v1.VolumeStatus p
""",
    "core_v1.VolumeNodeAffinity": """\
1 required - core_v1.NodeSelector p
""",
    "core_v1.VolumeProjection": """\
1 secret - core_v1.SecretProjection p
2 downwardAPI - core_v1.DownwardAPIProjection p
3 configMap - core_v1.ConfigMapProjection p
4 serviceAccountToken - core_v1.ServiceAccountTokenProjection p
5 clusterTrustBundle - core_v1.ClusterTrustBundleProjection p
6 podCertificate - core_v1.PodCertificateProjection p
""",
    "core_v1.VolumeResourceRequirements": """\
1 limits map Quantity p
2 requests map Quantity p
""",
    "core_v1.VolumeSource": """\
1 hostPath - core_v1.HostPathVolumeSource p
2 emptyDir - core_v1.EmptyDirVolumeSource p
3 gcePersistentDisk - core_v1.GCEPersistentDiskVolumeSource p
4 awsElasticBlockStore - core_v1.AWSElasticBlockStoreVolumeSource p
5 gitRepo - core_v1.GitRepoVolumeSource p
6 secret - core_v1.SecretVolumeSource p
7 nfs - core_v1.NFSVolumeSource p
8 iscsi - core_v1.ISCSIVolumeSource p
9 glusterfs - core_v1.GlusterfsVolumeSource p
10 persistentVolumeClaim - core_v1.PersistentVolumeClaimVolumeSource p
11 rbd - core_v1.RBDVolumeSource p
12 flexVolume - core_v1.FlexVolumeSource p
13 cinder - core_v1.CinderVolumeSource p
14 cephfs - core_v1.CephFSVolumeSource p
15 flocker - core_v1.FlockerVolumeSource p
16 downwardAPI - core_v1.DownwardAPIVolumeSource p
17 fc - core_v1.FCVolumeSource p
18 azureFile - core_v1.AzureFileVolumeSource p
19 configMap - core_v1.ConfigMapVolumeSource p
20 vsphereVolume - core_v1.VsphereVirtualDiskVolumeSource p
21 quobyte - core_v1.QuobyteVolumeSource p
22 azureDisk - core_v1.AzureDiskVolumeSource p
23 photonPersistentDisk - core_v1.PhotonPersistentDiskVolumeSource p
24 portworxVolume - core_v1.PortworxVolumeSource p
25 scaleIO - core_v1.ScaleIOVolumeSource p
26 projected - core_v1.ProjectedVolumeSource p
27 storageos - core_v1.StorageOSVolumeSource p
28 csi - core_v1.CSIVolumeSource p
29 ephemeral - core_v1.EphemeralVolumeSource p
30 image - core_v1.ImageVolumeSource p
""",
    "core_v1.VolumeStatus": """\
1 image - core_v1.ImageVolumeStatus p
""",
    "core_v1.VsphereVirtualDiskVolumeSource": """\
1 volumePath - string a
2 fsType - string v
3 storagePolicyName - string v
4 storagePolicyID - string v
""",
    "core_v1.WeightedPodAffinityTerm": """\
1 weight - int32 a
2 podAffinityTerm - core_v1.PodAffinityTerm a
""",
    "core_v1.WindowsSecurityContextOptions": """\
1 gmsaCredentialSpecName - string p
2 gmsaCredentialSpec - string p
3 runAsUserName - string p
4 hostProcess - bool p
""",
    "discovery_v1.Endpoint": """\
1 addresses list string p
2 conditions - discovery_v1.EndpointConditions a
3 hostname - string p
4 targetRef - core_v1.ObjectReference p
5 deprecatedTopology map string p
6 nodeName - string p
7 zone - string p
8 hints - discovery_v1.EndpointHints p
""",
    "discovery_v1.EndpointConditions": """\
1 ready - bool p
2 serving - bool p
3 terminating - bool p
""",
    "discovery_v1.EndpointHints": """\
1 forZones list discovery_v1.ForZone p
2 forNodes list discovery_v1.ForNode p
""",
    "discovery_v1.EndpointPort": """\
1 name - string p
2 protocol - string p
3 port - int32 p
4 appProtocol - string p
""",
    "discovery_v1.EndpointSlice": """\
1 metadata - meta_v1.ObjectMeta a
2 endpoints list discovery_v1.Endpoint p
3 ports list discovery_v1.EndpointPort p
4 addressType - string a
""",
    "discovery_v1.EndpointSliceList": """\
1 metadata - meta_v1.ListMeta a
2 items list discovery_v1.EndpointSlice p
""",
    "discovery_v1.ForNode": """\
1 name - string a
""",
    "discovery_v1.ForZone": """\
1 name - string a
""",
    "events_v1.Event": """\
1 metadata - meta_v1.ObjectMeta a
2 eventTime - MicroTime n
3 series - events_v1.EventSeries p
4 reportingController - string v
5 reportingInstance - string v
6 action - string v
7 reason - string v
8 regarding - core_v1.ObjectReference a
9 related - core_v1.ObjectReference p
10 note - string v
11 type - string v
12 deprecatedSource - core_v1.EventSource a
13 deprecatedFirstTimestamp - Time n
14 deprecatedLastTimestamp - Time n
15 deprecatedCount - int32 v
""",
    "events_v1.EventList": """\
1 metadata - meta_v1.ListMeta a
2 items list events_v1.Event p
""",
    "events_v1.EventSeries": """\
1 count - int32 a
2 lastObservedTime - MicroTime n
""",
    "flowcontrol_v1.ExemptPriorityLevelConfiguration": """\
1 nominalConcurrencyShares - int32 p
2 lendablePercent - int32 p
""",
    "flowcontrol_v1.FlowDistinguisherMethod": """\
1 type - string a
""",
    "flowcontrol_v1.FlowSchema": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - flowcontrol_v1.FlowSchemaSpec a
3 status - flowcontrol_v1.FlowSchemaStatus a
""",
    "flowcontrol_v1.FlowSchemaCondition": """\
1 type - string v
2 status - string v
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "flowcontrol_v1.FlowSchemaList": """\
1 metadata - meta_v1.ListMeta a
2 items list flowcontrol_v1.FlowSchema p
""",
    "flowcontrol_v1.FlowSchemaSpec": """\
1 priorityLevelConfiguration - flowcontrol_v1.PriorityLevelConfigurationReference a
2 matchingPrecedence - int32 a
3 distinguisherMethod - flowcontrol_v1.FlowDistinguisherMethod p
4 rules list flowcontrol_v1.PolicyRulesWithSubjects p
""",
    "flowcontrol_v1.FlowSchemaStatus": """\
1 conditions list flowcontrol_v1.FlowSchemaCondition p
""",
    "flowcontrol_v1.GroupSubject": """\
1 name - string a
""",
    "flowcontrol_v1.LimitResponse": """\
1 type - string a
2 queuing - flowcontrol_v1.QueuingConfiguration p
""",
    "flowcontrol_v1.LimitedPriorityLevelConfiguration": """\
1 nominalConcurrencyShares - int32 p
2 limitResponse - flowcontrol_v1.LimitResponse a
3 lendablePercent - int32 p
4 borrowingLimitPercent - int32 p
""",
    "flowcontrol_v1.NonResourcePolicyRule": """\
1 verbs list string p
6 nonResourceURLs list string p
""",
    "flowcontrol_v1.PolicyRulesWithSubjects": """\
1 subjects list flowcontrol_v1.Subject p
2 resourceRules list flowcontrol_v1.ResourcePolicyRule p
3 nonResourceRules list flowcontrol_v1.NonResourcePolicyRule p
""",
    "flowcontrol_v1.PriorityLevelConfiguration": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - flowcontrol_v1.PriorityLevelConfigurationSpec a
3 status - flowcontrol_v1.PriorityLevelConfigurationStatus a
""",
    "flowcontrol_v1.PriorityLevelConfigurationCondition": """\
1 type - string v
2 status - string v
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "flowcontrol_v1.PriorityLevelConfigurationList": """\
1 metadata - meta_v1.ListMeta a
2 items list flowcontrol_v1.PriorityLevelConfiguration p
""",
    "flowcontrol_v1.PriorityLevelConfigurationReference": """\
1 name - string a
""",
    "flowcontrol_v1.PriorityLevelConfigurationSpec": """\
1 type - string a
2 limited - flowcontrol_v1.LimitedPriorityLevelConfiguration p
3 exempt - flowcontrol_v1.ExemptPriorityLevelConfiguration p
""",
    "flowcontrol_v1.PriorityLevelConfigurationStatus": """\
1 conditions list flowcontrol_v1.PriorityLevelConfigurationCondition p
""",
    "flowcontrol_v1.QueuingConfiguration": """\
1 queues - int32 a
2 handSize - int32 a
3 queueLengthLimit - int32 a
""",
    "flowcontrol_v1.ResourcePolicyRule": """\
1 verbs list string p
2 apiGroups list string p
3 resources list string p
4 clusterScope - bool v
5 namespaces list string p
""",
    "flowcontrol_v1.ServiceAccountSubject": """\
1 namespace - string a
2 name - string a
""",
    "flowcontrol_v1.Subject": """\
1 kind - string a
2 user - flowcontrol_v1.UserSubject p
3 group - flowcontrol_v1.GroupSubject p
4 serviceAccount - flowcontrol_v1.ServiceAccountSubject p
""",
    "flowcontrol_v1.UserSubject": """\
1 name - string a
""",
    "networking_v1.HTTPIngressPath": """\
1 path - string v
2 backend - networking_v1.IngressBackend a
3 pathType - string p
""",
    "networking_v1.HTTPIngressRuleValue": """\
1 paths list networking_v1.HTTPIngressPath p
""",
    "networking_v1.IPAddress": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - networking_v1.IPAddressSpec a
""",
    "networking_v1.IPAddressList": """\
1 metadata - meta_v1.ListMeta a
2 items list networking_v1.IPAddress p
""",
    "networking_v1.IPAddressSpec": """\
1 parentRef - networking_v1.ParentReference p
""",
    "networking_v1.IPBlock": """\
1 cidr - string a
2 except list string p
""",
    "networking_v1.Ingress": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - networking_v1.IngressSpec a
3 status - networking_v1.IngressStatus a
""",
    "networking_v1.IngressBackend": """\
3 resource - core_v1.TypedLocalObjectReference p
4 service - networking_v1.IngressServiceBackend p
""",
    "networking_v1.IngressClass": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - networking_v1.IngressClassSpec a
""",
    "networking_v1.IngressClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list networking_v1.IngressClass p
""",
    "networking_v1.IngressClassParametersReference": """\
1 apiGroup - string p
2 kind - string a
3 name - string a
4 scope - string p
5 namespace - string p
""",
    "networking_v1.IngressClassSpec": """\
1 controller - string v
2 parameters - networking_v1.IngressClassParametersReference p
""",
    "networking_v1.IngressList": """\
1 metadata - meta_v1.ListMeta a
2 items list networking_v1.Ingress p
""",
    "networking_v1.IngressLoadBalancerIngress": """\
1 ip - string v
2 hostname - string v
4 ports list networking_v1.IngressPortStatus p
""",
    "networking_v1.IngressLoadBalancerStatus": """\
1 ingress list networking_v1.IngressLoadBalancerIngress p
""",
    "networking_v1.IngressPortStatus": """\
1 port - int32 a
2 protocol - string a
3 error - string p
""",
    "networking_v1.IngressRule": """\
1 host - string v
2 ingressRuleValue inline networking_v1.IngressRuleValue p
""",
    "networking_v1.IngressRuleValue": """\
1 http - networking_v1.HTTPIngressRuleValue p
""",
    "networking_v1.IngressServiceBackend": """\
1 name - string a
2 port - networking_v1.ServiceBackendPort a
""",
    "networking_v1.IngressSpec": """\
1 defaultBackend - networking_v1.IngressBackend p
2 tls list networking_v1.IngressTLS p
3 rules list networking_v1.IngressRule p
4 ingressClassName - string p
""",
    "networking_v1.IngressStatus": """\
1 loadBalancer - networking_v1.IngressLoadBalancerStatus a
""",
    "networking_v1.IngressTLS": """\
1 hosts list string p
2 secretName - string v
""",
    "networking_v1.NetworkPolicy": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - networking_v1.NetworkPolicySpec a
""",
    "networking_v1.NetworkPolicyEgressRule": """\
1 ports list networking_v1.NetworkPolicyPort p
2 to list networking_v1.NetworkPolicyPeer p
""",
    "networking_v1.NetworkPolicyIngressRule": """\
1 ports list networking_v1.NetworkPolicyPort p
2 from list networking_v1.NetworkPolicyPeer p
""",
    "networking_v1.NetworkPolicyList": """\
1 metadata - meta_v1.ListMeta a
2 items list networking_v1.NetworkPolicy p
""",
    "networking_v1.NetworkPolicyPeer": """\
1 podSelector - meta_v1.LabelSelector p
2 namespaceSelector - meta_v1.LabelSelector p
3 ipBlock - networking_v1.IPBlock p
""",
    "networking_v1.NetworkPolicyPort": """\
1 protocol - string p
2 port - IntOrString p
3 endPort - int32 p
""",
    "networking_v1.NetworkPolicySpec": """\
1 podSelector - meta_v1.LabelSelector a
2 ingress list networking_v1.NetworkPolicyIngressRule p
3 egress list networking_v1.NetworkPolicyEgressRule p
4 policyTypes list string p
""",
    "networking_v1.ParentReference": """\
1 group - string v
2 resource - string v
3 namespace - string v
4 name - string v
""",
    "networking_v1.ServiceBackendPort": """\
1 name - string v
2 number - int32 v
""",
    "networking_v1.ServiceCIDR": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - networking_v1.ServiceCIDRSpec a
3 status - networking_v1.ServiceCIDRStatus a
""",
    "networking_v1.ServiceCIDRList": """\
1 metadata - meta_v1.ListMeta a
2 items list networking_v1.ServiceCIDR p
""",
    "networking_v1.ServiceCIDRSpec": """\
1 cidrs list string p
""",
    "networking_v1.ServiceCIDRStatus": """\
1 conditions list meta_v1.Condition p
""",
    "node_v1.Overhead": """\
1 podFixed map Quantity p
""",
    "node_v1.RuntimeClass": """\
1 metadata - meta_v1.ObjectMeta a
2 handler - string a
3 overhead - node_v1.Overhead p
4 scheduling - node_v1.Scheduling p
""",
    "node_v1.RuntimeClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list node_v1.RuntimeClass p
""",
    "node_v1.Scheduling": """\
1 nodeSelector map string p
2 tolerations list core_v1.Toleration p
""",
    "policy_v1.Eviction": """\
1 metadata - meta_v1.ObjectMeta a
2 deleteOptions - meta_v1.DeleteOptions p
""",
    "policy_v1.PodDisruptionBudget": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - policy_v1.PodDisruptionBudgetSpec a
3 status - policy_v1.PodDisruptionBudgetStatus a
""",
    "policy_v1.PodDisruptionBudgetList": """\
1 metadata - meta_v1.ListMeta a
2 items list policy_v1.PodDisruptionBudget p
""",
    "policy_v1.PodDisruptionBudgetSpec": """\
1 minAvailable - IntOrString p
2 selector - meta_v1.LabelSelector p
3 maxUnavailable - IntOrString p
4 unhealthyPodEvictionPolicy - string p
""",
    "policy_v1.PodDisruptionBudgetStatus": """\
1 observedGeneration - int64 v
2 disruptedPods map Time p
3 disruptionsAllowed - int32 a
4 currentHealthy - int32 a
5 desiredHealthy - int32 a
6 expectedPods - int32 a
7 conditions list meta_v1.Condition p
""",
    "rbac_v1.AggregationRule": """\
1 clusterRoleSelectors list meta_v1.LabelSelector p
""",
    "rbac_v1.ClusterRole": """\
1 metadata - meta_v1.ObjectMeta a
2 rules list rbac_v1.PolicyRule p
3 aggregationRule - rbac_v1.AggregationRule p
""",
    "rbac_v1.ClusterRoleBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 subjects list rbac_v1.Subject p
3 roleRef - rbac_v1.RoleRef a
""",
    "rbac_v1.ClusterRoleBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list rbac_v1.ClusterRoleBinding p
""",
    "rbac_v1.ClusterRoleList": """\
1 metadata - meta_v1.ListMeta a
2 items list rbac_v1.ClusterRole p
""",
    "rbac_v1.PolicyRule": """\
1 verbs list string p
2 apiGroups list string p
3 resources list string p
4 resourceNames list string p
5 nonResourceURLs list string p
""",
    "rbac_v1.Role": """\
1 metadata - meta_v1.ObjectMeta a
2 rules list rbac_v1.PolicyRule p
""",
    "rbac_v1.RoleBinding": """\
1 metadata - meta_v1.ObjectMeta a
2 subjects list rbac_v1.Subject p
3 roleRef - rbac_v1.RoleRef a
""",
    "rbac_v1.RoleBindingList": """\
1 metadata - meta_v1.ListMeta a
2 items list rbac_v1.RoleBinding p
""",
    "rbac_v1.RoleList": """\
1 metadata - meta_v1.ListMeta a
2 items list rbac_v1.Role p
""",
    "rbac_v1.RoleRef": """\
1 apiGroup - string a
2 kind - string a
3 name - string a
""",
    "rbac_v1.Subject": """\
1 kind - string a
2 apiGroup - string v
3 name - string a
4 namespace - string v
""",
    "resource_v1.AllocatedDeviceStatus": """\
1 driver - string a
2 pool - string a
3 device - string a
4 conditions list meta_v1.Condition p
5 data - Raw p
6 networkData - resource_v1.NetworkDeviceData p
7 shareID - string p
""",
    "resource_v1.AllocationResult": """\
1 devices - resource_v1.DeviceAllocationResult a
3 nodeSelector - core_v1.NodeSelector p
5 allocationTimestamp - Time p
""",
    "resource_v1.CELDeviceSelector": """\
1 expression - string a
""",
    "resource_v1.CapacityRequestPolicy": """\
1 default - Quantity p
3 validValues list Quantity p
4 validRange - resource_v1.CapacityRequestPolicyRange p
""",
    "resource_v1.CapacityRequestPolicyRange": """\
1 min - Quantity p
2 max - Quantity p
3 step - Quantity p
""",
    "resource_v1.CapacityRequirements": """\
1 requests map Quantity p
""",
    "resource_v1.Counter": """\
1 value - Quantity a
""",
    "resource_v1.CounterSet": """\
1 name - string a
2 counters map resource_v1.Counter p
""",
    "resource_v1.Device": """\
1 name - string a
2 attributes map resource_v1.DeviceAttribute p
3 capacity map resource_v1.DeviceCapacity p
4 consumesCounters list resource_v1.DeviceCounterConsumption p
5 nodeName - string p
6 nodeSelector - core_v1.NodeSelector p
7 allNodes - bool p
8 taints list resource_v1.DeviceTaint p
9 bindsToNode - bool p
10 bindingConditions list string p
11 bindingFailureConditions list string p
12 allowMultipleAllocations - bool p
14 nodeAllocatableResources map resource_v1.NodeAllocatableResource p
""",
    "resource_v1.DeviceAllocationConfiguration": """\
1 source - string a
2 requests list string p
3 deviceConfiguration inline resource_v1.DeviceConfiguration p
""",
    "resource_v1.DeviceAllocationResult": """\
1 results list resource_v1.DeviceRequestAllocationResult p
2 config list resource_v1.DeviceAllocationConfiguration p
""",
    "resource_v1.DeviceAttribute": """\
2 int - int64 p
3 bool - bool p
4 string - string p
5 version - string p
6 ints list int64 p
7 bools list bool p
8 strings list string p
9 versions list string p
""",
    "resource_v1.DeviceCapacity": """\
1 value - Quantity a
2 requestPolicy - resource_v1.CapacityRequestPolicy p
""",
    "resource_v1.DeviceClaim": """\
1 requests list resource_v1.DeviceRequest p
2 constraints list resource_v1.DeviceConstraint p
3 config list resource_v1.DeviceClaimConfiguration p
""",
    "resource_v1.DeviceClaimConfiguration": """\
1 requests list string p
2 deviceConfiguration inline resource_v1.DeviceConfiguration p
""",
    "resource_v1.DeviceClass": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.DeviceClassSpec a
""",
    "resource_v1.DeviceClassConfiguration": """\
1 deviceConfiguration inline resource_v1.DeviceConfiguration p
""",
    "resource_v1.DeviceClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1.DeviceClass p
""",
    "resource_v1.DeviceClassSpec": """\
1 selectors list resource_v1.DeviceSelector p
2 config list resource_v1.DeviceClassConfiguration p
4 extendedResourceName - string p
""",
    "resource_v1.DeviceConfiguration": """\
1 opaque - resource_v1.OpaqueDeviceConfiguration p
""",
    "resource_v1.DeviceConstraint": """\
1 requests list string p
2 matchAttribute - string p
3 distinctAttribute - string p
""",
    "resource_v1.DeviceCounterConsumption": """\
1 counterSet - string a
2 counters map resource_v1.Counter p
3 compatibilityGroups list string p
""",
    "resource_v1.DeviceDerivedAttribute": """\
1 name - string a
2 expression - string a
""",
    "resource_v1.DeviceRequest": """\
1 name - string a
2 exactly - resource_v1.ExactDeviceRequest p
3 firstAvailable list resource_v1.DeviceSubRequest p
""",
    "resource_v1.DeviceRequestAllocationResult": """\
1 request - string a
2 driver - string a
3 pool - string a
4 device - string a
5 adminAccess - bool p
6 tolerations list resource_v1.DeviceToleration p
7 bindingConditions list string p
8 bindingFailureConditions list string p
9 shareID - string p
10 consumedCapacity map Quantity p
11 skipNodeOperations list string p
""",
    "resource_v1.DeviceSelector": """\
1 cel - resource_v1.CELDeviceSelector p
""",
    "resource_v1.DeviceSubRequest": """\
1 name - string a
2 deviceClassName - string a
3 selectors list resource_v1.DeviceSelector p
4 allocationMode - string v
5 count - int64 v
6 tolerations list resource_v1.DeviceToleration p
7 capacity - resource_v1.CapacityRequirements p
8 derivedAttributes list resource_v1.DeviceDerivedAttribute p
""",
    "resource_v1.DeviceTaint": """\
1 key - string a
2 value - string v
3 effect - string a
4 timeAdded - Time p
""",
    "resource_v1.DeviceTaintRule": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.DeviceTaintRuleSpec a
3 status - resource_v1.DeviceTaintRuleStatus a
""",
    "resource_v1.DeviceTaintRuleList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1.DeviceTaintRule p
""",
    "resource_v1.DeviceTaintRuleSpec": """\
1 deviceSelector - resource_v1.DeviceTaintSelector p
2 taint - resource_v1.DeviceTaint a
""",
    "resource_v1.DeviceTaintRuleStatus": """\
1 conditions list meta_v1.Condition p
""",
    "resource_v1.DeviceTaintSelector": """\
2 driver - string p
3 pool - string p
4 device - string p
""",
    "resource_v1.DeviceToleration": """\
1 key - string v
2 operator - string v
3 value - string v
4 effect - string v
5 tolerationSeconds - int64 p
""",
    "resource_v1.ExactDeviceRequest": """\
1 deviceClassName - string a
2 selectors list resource_v1.DeviceSelector p
3 allocationMode - string v
4 count - int64 v
5 adminAccess - bool p
6 tolerations list resource_v1.DeviceToleration p
7 capacity - resource_v1.CapacityRequirements p
8 derivedAttributes list resource_v1.DeviceDerivedAttribute p
""",
    "resource_v1.NetworkDeviceData": """\
1 interfaceName - string v
2 ips list string p
3 hardwareAddress - string v
""",
    "resource_v1.NodeAllocatableMapping": """\
1 capacityKey - string p
2 capacityMultiplier - Quantity p
3 deviceMultiplier - Quantity p
""",
    "resource_v1.NodeAllocatableOverhead": """\
1 perPod - Quantity p
2 perContainer - Quantity p
""",
    "resource_v1.NodeAllocatableResource": """\
3 mapping - resource_v1.NodeAllocatableMapping p
4 overhead - resource_v1.NodeAllocatableOverhead p
""",
    "resource_v1.OpaqueDeviceConfiguration": """\
1 driver - string a
2 parameters - Raw n
""",
    "resource_v1.ResourceClaim": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.ResourceClaimSpec a
3 status - resource_v1.ResourceClaimStatus a
""",
    "resource_v1.ResourceClaimConsumerReference": """\
1 apiGroup - string v
3 resource - string a
4 name - string a
5 uid - string a
""",
    "resource_v1.ResourceClaimList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1.ResourceClaim p
""",
    "resource_v1.ResourceClaimSpec": """\
1 devices - resource_v1.DeviceClaim a
""",
    "resource_v1.ResourceClaimStatus": """\
1 allocation - resource_v1.AllocationResult p
2 reservedFor list resource_v1.ResourceClaimConsumerReference p
4 devices list resource_v1.AllocatedDeviceStatus p
""",
    "resource_v1.ResourceClaimTemplate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.ResourceClaimTemplateSpec a
""",
    "resource_v1.ResourceClaimTemplateList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1.ResourceClaimTemplate p
""",
    "resource_v1.ResourceClaimTemplateSpec": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.ResourceClaimSpec a
""",
    "resource_v1.ResourcePool": """\
1 name - string a
2 generation - int64 a
3 resourceSliceCount - int64 a
""",
    "resource_v1.ResourceSlice": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1.ResourceSliceSpec a
""",
    "resource_v1.ResourceSliceList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1.ResourceSlice p
""",
    "resource_v1.ResourceSliceSpec": """\
1 driver - string a
2 pool - resource_v1.ResourcePool a
3 nodeName - string p
4 nodeSelector - core_v1.NodeSelector p
5 allNodes - bool p
6 devices list resource_v1.Device p
7 perDeviceNodeSelection - bool p
8 sharedCounters list resource_v1.CounterSet p
9 partitionTypeAttribute - string p
10 skipNodeOperations list string p
""",
    "resource_v1alpha3.CELDeviceSelector": """\
1 expression - string p
""",
    "resource_v1alpha3.DeviceSelector": """\
1 cel - resource_v1alpha3.CELDeviceSelector p
""",
    "resource_v1alpha3.DeviceTaint": """\
1 key - string a
2 value - string v
3 effect - string a
4 timeAdded - Time p
""",
    "resource_v1alpha3.DeviceTaintRule": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1alpha3.DeviceTaintRuleSpec a
3 status - resource_v1alpha3.DeviceTaintRuleStatus a
""",
    "resource_v1alpha3.DeviceTaintRuleList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1alpha3.DeviceTaintRule p
""",
    "resource_v1alpha3.DeviceTaintRuleSpec": """\
1 deviceSelector - resource_v1alpha3.DeviceTaintSelector p
2 taint - resource_v1alpha3.DeviceTaint a
""",
    "resource_v1alpha3.DeviceTaintRuleStatus": """\
1 conditions list meta_v1.Condition p
""",
    "resource_v1alpha3.DeviceTaintSelector": """\
2 driver - string p
3 pool - string p
4 device - string p
""",
    "resource_v1alpha3.PartitionTypeStatus": """\
1 type - string v
2 total - int32 p
3 allocatable - int32 p
4 attribute - string v
""",
    "resource_v1alpha3.PoolStatus": """\
1 driver - string v
2 poolName - string v
3 nodeName - string p
4 totalDevices - int32 p
5 allocatedDevices - int32 p
6 availableDevices - int32 p
7 unavailableDevices - int32 p
8 resourceSliceCount - int32 p
9 generation - int64 a
10 validationError - string p
11 partitionSummary list resource_v1alpha3.PartitionTypeStatus p
13 shareableSummary - resource_v1alpha3.ShareableSummaryStatus p
""",
    "resource_v1alpha3.ResourcePoolStatusRequest": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1alpha3.ResourcePoolStatusRequestSpec a
3 status - resource_v1alpha3.ResourcePoolStatusRequestStatus p
""",
    "resource_v1alpha3.ResourcePoolStatusRequestList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1alpha3.ResourcePoolStatusRequest p
""",
    "resource_v1alpha3.ResourcePoolStatusRequestSpec": """\
1 driver - string a
2 poolName - string p
3 limit - int32 p
4 defaultPartitionTypeAttribute - string p
""",
    "resource_v1alpha3.ResourcePoolStatusRequestStatus": """\
2 pools list resource_v1alpha3.PoolStatus p
3 conditions list meta_v1.Condition p
6 poolCount - int32 p
""",
    "resource_v1alpha3.ShareableCapacityStatus": """\
1 name - string v
2 total - Quantity p
3 consumed - Quantity p
4 available - Quantity p
""",
    "resource_v1alpha3.ShareableSummaryStatus": """\
1 fullyAvailableDevices - int32 p
2 partiallyAvailableDevices - int32 p
3 capacity list resource_v1alpha3.ShareableCapacityStatus p
""",
    "resource_v1beta1.AllocatedDeviceStatus": """\
1 driver - string a
2 pool - string a
3 device - string a
4 conditions list meta_v1.Condition p
5 data - Raw p
6 networkData - resource_v1beta1.NetworkDeviceData p
7 shareID - string p
""",
    "resource_v1beta1.AllocationResult": """\
1 devices - resource_v1beta1.DeviceAllocationResult a
3 nodeSelector - core_v1.NodeSelector p
5 allocationTimestamp - Time p
""",
    "resource_v1beta1.BasicDevice": """\
1 attributes map resource_v1beta1.DeviceAttribute p
2 capacity map resource_v1beta1.DeviceCapacity p
3 consumesCounters list resource_v1beta1.DeviceCounterConsumption p
4 nodeName - string p
5 nodeSelector - core_v1.NodeSelector p
6 allNodes - bool p
7 taints list resource_v1beta1.DeviceTaint p
8 bindsToNode - bool p
9 bindingConditions list string p
10 bindingFailureConditions list string p
11 allowMultipleAllocations - bool p
14 nodeAllocatableResources map resource_v1beta1.NodeAllocatableResource p
""",
    "resource_v1beta1.CELDeviceSelector": """\
1 expression - string a
""",
    "resource_v1beta1.CapacityRequestPolicy": """\
1 default - Quantity p
3 validValues list Quantity p
4 validRange - resource_v1beta1.CapacityRequestPolicyRange p
""",
    "resource_v1beta1.CapacityRequestPolicyRange": """\
1 min - Quantity p
2 max - Quantity p
3 step - Quantity p
""",
    "resource_v1beta1.CapacityRequirements": """\
1 requests map Quantity p
""",
    "resource_v1beta1.Counter": """\
1 value - Quantity a
""",
    "resource_v1beta1.CounterSet": """\
1 name - string a
2 counters map resource_v1beta1.Counter p
""",
    "resource_v1beta1.Device": """\
1 name - string a
2 basic - resource_v1beta1.BasicDevice p
""",
    "resource_v1beta1.DeviceAllocationConfiguration": """\
1 source - string a
2 requests list string p
3 deviceConfiguration inline resource_v1beta1.DeviceConfiguration p
""",
    "resource_v1beta1.DeviceAllocationResult": """\
1 results list resource_v1beta1.DeviceRequestAllocationResult p
2 config list resource_v1beta1.DeviceAllocationConfiguration p
""",
    "resource_v1beta1.DeviceAttribute": """\
2 int - int64 p
3 bool - bool p
4 string - string p
5 version - string p
6 ints list int64 p
7 bools list bool p
8 strings list string p
9 versions list string p
""",
    "resource_v1beta1.DeviceCapacity": """\
1 value - Quantity a
2 requestPolicy - resource_v1beta1.CapacityRequestPolicy p
""",
    "resource_v1beta1.DeviceClaim": """\
1 requests list resource_v1beta1.DeviceRequest p
2 constraints list resource_v1beta1.DeviceConstraint p
3 config list resource_v1beta1.DeviceClaimConfiguration p
""",
    "resource_v1beta1.DeviceClaimConfiguration": """\
1 requests list string p
2 deviceConfiguration inline resource_v1beta1.DeviceConfiguration p
""",
    "resource_v1beta1.DeviceClass": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta1.DeviceClassSpec a
""",
    "resource_v1beta1.DeviceClassConfiguration": """\
1 deviceConfiguration inline resource_v1beta1.DeviceConfiguration p
""",
    "resource_v1beta1.DeviceClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta1.DeviceClass p
""",
    "resource_v1beta1.DeviceClassSpec": """\
1 selectors list resource_v1beta1.DeviceSelector p
2 config list resource_v1beta1.DeviceClassConfiguration p
4 extendedResourceName - string p
""",
    "resource_v1beta1.DeviceConfiguration": """\
1 opaque - resource_v1beta1.OpaqueDeviceConfiguration p
""",
    "resource_v1beta1.DeviceConstraint": """\
1 requests list string p
2 matchAttribute - string p
3 distinctAttribute - string p
""",
    "resource_v1beta1.DeviceCounterConsumption": """\
1 counterSet - string a
2 counters map resource_v1beta1.Counter p
3 compatibilityGroups list string p
""",
    "resource_v1beta1.DeviceDerivedAttribute": """\
1 name - string a
2 expression - string a
""",
    "resource_v1beta1.DeviceRequest": """\
1 name - string a
2 deviceClassName - string a
3 selectors list resource_v1beta1.DeviceSelector p
4 allocationMode - string v
5 count - int64 v
6 adminAccess - bool p
7 firstAvailable list resource_v1beta1.DeviceSubRequest p
8 tolerations list resource_v1beta1.DeviceToleration p
9 capacity - resource_v1beta1.CapacityRequirements p
10 derivedAttributes list resource_v1beta1.DeviceDerivedAttribute p
""",
    "resource_v1beta1.DeviceRequestAllocationResult": """\
1 request - string a
2 driver - string a
3 pool - string a
4 device - string a
5 adminAccess - bool p
6 tolerations list resource_v1beta1.DeviceToleration p
7 bindingConditions list string p
8 bindingFailureConditions list string p
9 shareID - string p
10 consumedCapacity map Quantity p
11 skipNodeOperations list string p
""",
    "resource_v1beta1.DeviceSelector": """\
1 cel - resource_v1beta1.CELDeviceSelector p
""",
    "resource_v1beta1.DeviceSubRequest": """\
1 name - string a
2 deviceClassName - string a
3 selectors list resource_v1beta1.DeviceSelector p
4 allocationMode - string v
5 count - int64 v
7 tolerations list resource_v1beta1.DeviceToleration p
8 capacity - resource_v1beta1.CapacityRequirements p
9 derivedAttributes list resource_v1beta1.DeviceDerivedAttribute p
""",
    "resource_v1beta1.DeviceTaint": """\
1 key - string a
2 value - string v
3 effect - string a
4 timeAdded - Time p
""",
    "resource_v1beta1.DeviceToleration": """\
1 key - string v
2 operator - string v
3 value - string v
4 effect - string v
5 tolerationSeconds - int64 p
""",
    "resource_v1beta1.NetworkDeviceData": """\
1 interfaceName - string v
2 ips list string p
3 hardwareAddress - string v
""",
    "resource_v1beta1.NodeAllocatableMapping": """\
1 capacityKey - string p
2 capacityMultiplier - Quantity p
3 deviceMultiplier - Quantity p
""",
    "resource_v1beta1.NodeAllocatableOverhead": """\
1 perPod - Quantity p
2 perContainer - Quantity p
""",
    "resource_v1beta1.NodeAllocatableResource": """\
3 mapping - resource_v1beta1.NodeAllocatableMapping p
4 overhead - resource_v1beta1.NodeAllocatableOverhead p
""",
    "resource_v1beta1.OpaqueDeviceConfiguration": """\
1 driver - string a
2 parameters - Raw n
""",
    "resource_v1beta1.ResourceClaim": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta1.ResourceClaimSpec a
3 status - resource_v1beta1.ResourceClaimStatus a
""",
    "resource_v1beta1.ResourceClaimConsumerReference": """\
1 apiGroup - string v
3 resource - string a
4 name - string a
5 uid - string a
""",
    "resource_v1beta1.ResourceClaimList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta1.ResourceClaim p
""",
    "resource_v1beta1.ResourceClaimSpec": """\
1 devices - resource_v1beta1.DeviceClaim a
""",
    "resource_v1beta1.ResourceClaimStatus": """\
1 allocation - resource_v1beta1.AllocationResult p
2 reservedFor list resource_v1beta1.ResourceClaimConsumerReference p
4 devices list resource_v1beta1.AllocatedDeviceStatus p
""",
    "resource_v1beta1.ResourceClaimTemplate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta1.ResourceClaimTemplateSpec a
""",
    "resource_v1beta1.ResourceClaimTemplateList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta1.ResourceClaimTemplate p
""",
    "resource_v1beta1.ResourceClaimTemplateSpec": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta1.ResourceClaimSpec a
""",
    "resource_v1beta1.ResourcePool": """\
1 name - string a
2 generation - int64 a
3 resourceSliceCount - int64 a
""",
    "resource_v1beta1.ResourceSlice": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta1.ResourceSliceSpec a
""",
    "resource_v1beta1.ResourceSliceList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta1.ResourceSlice p
""",
    "resource_v1beta1.ResourceSliceSpec": """\
1 driver - string a
2 pool - resource_v1beta1.ResourcePool a
3 nodeName - string v
4 nodeSelector - core_v1.NodeSelector p
5 allNodes - bool v
6 devices list resource_v1beta1.Device p
7 perDeviceNodeSelection - bool p
8 sharedCounters list resource_v1beta1.CounterSet p
9 partitionTypeAttribute - string p
10 skipNodeOperations list string p
""",
    "resource_v1beta2.AllocatedDeviceStatus": """\
1 driver - string a
2 pool - string a
3 device - string a
4 conditions list meta_v1.Condition p
5 data - Raw p
6 networkData - resource_v1beta2.NetworkDeviceData p
7 shareID - string p
""",
    "resource_v1beta2.AllocationResult": """\
1 devices - resource_v1beta2.DeviceAllocationResult a
3 nodeSelector - core_v1.NodeSelector p
5 allocationTimestamp - Time p
""",
    "resource_v1beta2.CELDeviceSelector": """\
1 expression - string a
""",
    "resource_v1beta2.CapacityRequestPolicy": """\
1 default - Quantity p
3 validValues list Quantity p
4 validRange - resource_v1beta2.CapacityRequestPolicyRange p
""",
    "resource_v1beta2.CapacityRequestPolicyRange": """\
1 min - Quantity p
2 max - Quantity p
3 step - Quantity p
""",
    "resource_v1beta2.CapacityRequirements": """\
1 requests map Quantity p
""",
    "resource_v1beta2.Counter": """\
1 value - Quantity a
""",
    "resource_v1beta2.CounterSet": """\
1 name - string a
2 counters map resource_v1beta2.Counter p
""",
    "resource_v1beta2.Device": """\
1 name - string a
2 attributes map resource_v1beta2.DeviceAttribute p
3 capacity map resource_v1beta2.DeviceCapacity p
4 consumesCounters list resource_v1beta2.DeviceCounterConsumption p
5 nodeName - string p
6 nodeSelector - core_v1.NodeSelector p
7 allNodes - bool p
8 taints list resource_v1beta2.DeviceTaint p
9 bindsToNode - bool p
10 bindingConditions list string p
11 bindingFailureConditions list string p
12 allowMultipleAllocations - bool p
14 nodeAllocatableResources map resource_v1beta2.NodeAllocatableResource p
""",
    "resource_v1beta2.DeviceAllocationConfiguration": """\
1 source - string a
2 requests list string p
3 deviceConfiguration inline resource_v1beta2.DeviceConfiguration p
""",
    "resource_v1beta2.DeviceAllocationResult": """\
1 results list resource_v1beta2.DeviceRequestAllocationResult p
2 config list resource_v1beta2.DeviceAllocationConfiguration p
""",
    "resource_v1beta2.DeviceAttribute": """\
2 int - int64 p
3 bool - bool p
4 string - string p
5 version - string p
6 ints list int64 p
7 bools list bool p
8 strings list string p
9 versions list string p
""",
    "resource_v1beta2.DeviceCapacity": """\
1 value - Quantity a
2 requestPolicy - resource_v1beta2.CapacityRequestPolicy p
""",
    "resource_v1beta2.DeviceClaim": """\
1 requests list resource_v1beta2.DeviceRequest p
2 constraints list resource_v1beta2.DeviceConstraint p
3 config list resource_v1beta2.DeviceClaimConfiguration p
""",
    "resource_v1beta2.DeviceClaimConfiguration": """\
1 requests list string p
2 deviceConfiguration inline resource_v1beta2.DeviceConfiguration p
""",
    "resource_v1beta2.DeviceClass": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.DeviceClassSpec a
""",
    "resource_v1beta2.DeviceClassConfiguration": """\
1 deviceConfiguration inline resource_v1beta2.DeviceConfiguration p
""",
    "resource_v1beta2.DeviceClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta2.DeviceClass p
""",
    "resource_v1beta2.DeviceClassSpec": """\
1 selectors list resource_v1beta2.DeviceSelector p
2 config list resource_v1beta2.DeviceClassConfiguration p
4 extendedResourceName - string p
""",
    "resource_v1beta2.DeviceConfiguration": """\
1 opaque - resource_v1beta2.OpaqueDeviceConfiguration p
""",
    "resource_v1beta2.DeviceConstraint": """\
1 requests list string p
2 matchAttribute - string p
3 distinctAttribute - string p
""",
    "resource_v1beta2.DeviceCounterConsumption": """\
1 counterSet - string a
2 counters map resource_v1beta2.Counter p
3 compatibilityGroups list string p
""",
    "resource_v1beta2.DeviceDerivedAttribute": """\
1 name - string a
2 expression - string a
""",
    "resource_v1beta2.DeviceRequest": """\
1 name - string a
2 exactly - resource_v1beta2.ExactDeviceRequest p
3 firstAvailable list resource_v1beta2.DeviceSubRequest p
""",
    "resource_v1beta2.DeviceRequestAllocationResult": """\
1 request - string a
2 driver - string a
3 pool - string a
4 device - string a
5 adminAccess - bool p
6 tolerations list resource_v1beta2.DeviceToleration p
7 bindingConditions list string p
8 bindingFailureConditions list string p
9 shareID - string p
10 consumedCapacity map Quantity p
11 skipNodeOperations list string p
""",
    "resource_v1beta2.DeviceSelector": """\
1 cel - resource_v1beta2.CELDeviceSelector p
""",
    "resource_v1beta2.DeviceSubRequest": """\
1 name - string a
2 deviceClassName - string a
3 selectors list resource_v1beta2.DeviceSelector p
4 allocationMode - string v
5 count - int64 v
6 tolerations list resource_v1beta2.DeviceToleration p
7 capacity - resource_v1beta2.CapacityRequirements p
8 derivedAttributes list resource_v1beta2.DeviceDerivedAttribute p
""",
    "resource_v1beta2.DeviceTaint": """\
1 key - string a
2 value - string v
3 effect - string a
4 timeAdded - Time p
""",
    "resource_v1beta2.DeviceTaintRule": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.DeviceTaintRuleSpec a
3 status - resource_v1beta2.DeviceTaintRuleStatus a
""",
    "resource_v1beta2.DeviceTaintRuleList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta2.DeviceTaintRule p
""",
    "resource_v1beta2.DeviceTaintRuleSpec": """\
1 deviceSelector - resource_v1beta2.DeviceTaintSelector p
2 taint - resource_v1beta2.DeviceTaint a
""",
    "resource_v1beta2.DeviceTaintRuleStatus": """\
1 conditions list meta_v1.Condition p
""",
    "resource_v1beta2.DeviceTaintSelector": """\
2 driver - string p
3 pool - string p
4 device - string p
""",
    "resource_v1beta2.DeviceToleration": """\
1 key - string v
2 operator - string v
3 value - string v
4 effect - string v
5 tolerationSeconds - int64 p
""",
    "resource_v1beta2.ExactDeviceRequest": """\
1 deviceClassName - string a
2 selectors list resource_v1beta2.DeviceSelector p
3 allocationMode - string v
4 count - int64 v
5 adminAccess - bool p
6 tolerations list resource_v1beta2.DeviceToleration p
7 capacity - resource_v1beta2.CapacityRequirements p
8 derivedAttributes list resource_v1beta2.DeviceDerivedAttribute p
""",
    "resource_v1beta2.NetworkDeviceData": """\
1 interfaceName - string v
2 ips list string p
3 hardwareAddress - string v
""",
    "resource_v1beta2.NodeAllocatableMapping": """\
1 capacityKey - string p
2 capacityMultiplier - Quantity p
3 deviceMultiplier - Quantity p
""",
    "resource_v1beta2.NodeAllocatableOverhead": """\
1 perPod - Quantity p
2 perContainer - Quantity p
""",
    "resource_v1beta2.NodeAllocatableResource": """\
3 mapping - resource_v1beta2.NodeAllocatableMapping p
4 overhead - resource_v1beta2.NodeAllocatableOverhead p
""",
    "resource_v1beta2.OpaqueDeviceConfiguration": """\
1 driver - string a
2 parameters - Raw n
""",
    "resource_v1beta2.ResourceClaim": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.ResourceClaimSpec a
3 status - resource_v1beta2.ResourceClaimStatus a
""",
    "resource_v1beta2.ResourceClaimConsumerReference": """\
1 apiGroup - string v
3 resource - string a
4 name - string a
5 uid - string a
""",
    "resource_v1beta2.ResourceClaimList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta2.ResourceClaim p
""",
    "resource_v1beta2.ResourceClaimSpec": """\
1 devices - resource_v1beta2.DeviceClaim a
""",
    "resource_v1beta2.ResourceClaimStatus": """\
1 allocation - resource_v1beta2.AllocationResult p
2 reservedFor list resource_v1beta2.ResourceClaimConsumerReference p
4 devices list resource_v1beta2.AllocatedDeviceStatus p
""",
    "resource_v1beta2.ResourceClaimTemplate": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.ResourceClaimTemplateSpec a
""",
    "resource_v1beta2.ResourceClaimTemplateList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta2.ResourceClaimTemplate p
""",
    "resource_v1beta2.ResourceClaimTemplateSpec": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.ResourceClaimSpec a
""",
    "resource_v1beta2.ResourcePool": """\
1 name - string a
2 generation - int64 a
3 resourceSliceCount - int64 a
""",
    "resource_v1beta2.ResourceSlice": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - resource_v1beta2.ResourceSliceSpec a
""",
    "resource_v1beta2.ResourceSliceList": """\
1 metadata - meta_v1.ListMeta a
2 items list resource_v1beta2.ResourceSlice p
""",
    "resource_v1beta2.ResourceSliceSpec": """\
1 driver - string a
2 pool - resource_v1beta2.ResourcePool a
3 nodeName - string p
4 nodeSelector - core_v1.NodeSelector p
5 allNodes - bool p
6 devices list resource_v1beta2.Device p
7 perDeviceNodeSelection - bool p
8 sharedCounters list resource_v1beta2.CounterSet p
9 partitionTypeAttribute - string p
10 skipNodeOperations list string p
""",
    "scheduling_v1.PriorityClass": """\
1 metadata - meta_v1.ObjectMeta a
2 value - int32 a
3 globalDefault - bool v
4 description - string v
5 preemptionPolicy - string p
""",
    "scheduling_v1.PriorityClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list scheduling_v1.PriorityClass p
""",
    "scheduling_v1alpha3.AllCompositeDisruptionMode": """\
""",
    "scheduling_v1alpha3.AllDisruptionMode": """\
""",
    "scheduling_v1alpha3.BasicSchedulingPolicy": """\
""",
    "scheduling_v1alpha3.CompositeBasicSchedulingPolicy": """\
""",
    "scheduling_v1alpha3.CompositeDisruptionMode": """\
1 single - scheduling_v1alpha3.SingleCompositeDisruptionMode p
2 all - scheduling_v1alpha3.AllCompositeDisruptionMode p
""",
    "scheduling_v1alpha3.CompositeGangSchedulingPolicy": """\
1 minGroupCount - int32 a
""",
    "scheduling_v1alpha3.CompositePodGroup": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - scheduling_v1alpha3.CompositePodGroupSpec a
3 status - scheduling_v1alpha3.CompositePodGroupStatus a
""",
    "scheduling_v1alpha3.CompositePodGroupList": """\
1 metadata - meta_v1.ListMeta a
2 items list scheduling_v1alpha3.CompositePodGroup p
""",
    "scheduling_v1alpha3.CompositePodGroupSchedulingConstraints": """\
1 topology list scheduling_v1alpha3.TopologyConstraint p
""",
    "scheduling_v1alpha3.CompositePodGroupSchedulingPolicy": """\
1 basic - scheduling_v1alpha3.CompositeBasicSchedulingPolicy p
2 gang - scheduling_v1alpha3.CompositeGangSchedulingPolicy p
""",
    "scheduling_v1alpha3.CompositePodGroupSpec": """\
1 parentCompositePodGroupName - string p
2 workloadRef - scheduling_v1alpha3.WorkloadReference p
3 schedulingPolicy - scheduling_v1alpha3.CompositePodGroupSchedulingPolicy a
4 schedulingConstraints - scheduling_v1alpha3.CompositePodGroupSchedulingConstraints p
5 disruptionMode - scheduling_v1alpha3.CompositeDisruptionMode p
6 priorityClassName - string v
7 priority - int32 p
8 preemptionPolicy - string p
""",
    "scheduling_v1alpha3.CompositePodGroupStatus": """\
1 conditions list meta_v1.Condition p
""",
    "scheduling_v1alpha3.CompositePodGroupTemplate": """\
1 name - string a
2 schedulingPolicy - scheduling_v1alpha3.CompositePodGroupSchedulingPolicy a
3 schedulingConstraints - scheduling_v1alpha3.CompositePodGroupSchedulingConstraints p
4 disruptionMode - scheduling_v1alpha3.CompositeDisruptionMode p
5 priorityClassName - string v
6 priority - int32 p
7 preemptionPolicy - string p
8 podGroupTemplates list scheduling_v1alpha3.PodGroupTemplate p
9 compositePodGroupTemplates list scheduling_v1alpha3.CompositePodGroupTemplate p
""",
    "scheduling_v1alpha3.DisruptionMode": """\
1 single - scheduling_v1alpha3.SingleDisruptionMode p
2 all - scheduling_v1alpha3.AllDisruptionMode p
""",
    "scheduling_v1alpha3.GangSchedulingPolicy": """\
1 minCount - int32 a
""",
    "scheduling_v1alpha3.PodGroup": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - scheduling_v1alpha3.PodGroupSpec a
3 status - scheduling_v1alpha3.PodGroupStatus a
""",
    "scheduling_v1alpha3.PodGroupList": """\
1 metadata - meta_v1.ListMeta a
2 items list scheduling_v1alpha3.PodGroup p
""",
    "scheduling_v1alpha3.PodGroupResourceClaim": """\
1 name - string a
2 resourceClaimName - string p
3 resourceClaimTemplateName - string p
""",
    "scheduling_v1alpha3.PodGroupResourceClaimStatus": """\
1 name - string a
2 resourceClaimName - string p
""",
    "scheduling_v1alpha3.PodGroupSchedulingConstraints": """\
1 topology list scheduling_v1alpha3.TopologyConstraint p
""",
    "scheduling_v1alpha3.PodGroupSchedulingPolicy": """\
1 basic - scheduling_v1alpha3.BasicSchedulingPolicy p
2 gang - scheduling_v1alpha3.GangSchedulingPolicy p
""",
    "scheduling_v1alpha3.PodGroupSpec": """\
1 parentCompositePodGroupName - string p
2 workloadRef - scheduling_v1alpha3.WorkloadReference p
3 schedulingPolicy - scheduling_v1alpha3.PodGroupSchedulingPolicy a
4 schedulingConstraints - scheduling_v1alpha3.PodGroupSchedulingConstraints p
5 resourceClaims list scheduling_v1alpha3.PodGroupResourceClaim p
6 disruptionMode - scheduling_v1alpha3.DisruptionMode p
7 priorityClassName - string v
8 priority - int32 p
9 preemptionPolicy - string p
""",
    "scheduling_v1alpha3.PodGroupStatus": """\
1 conditions list meta_v1.Condition p
2 resourceClaimStatuses list scheduling_v1alpha3.PodGroupResourceClaimStatus p
""",
    "scheduling_v1alpha3.PodGroupTemplate": """\
1 name - string a
2 schedulingPolicy - scheduling_v1alpha3.PodGroupSchedulingPolicy a
3 schedulingConstraints - scheduling_v1alpha3.PodGroupSchedulingConstraints p
4 resourceClaims list scheduling_v1alpha3.PodGroupResourceClaim p
5 disruptionMode - scheduling_v1alpha3.DisruptionMode p
6 priorityClassName - string v
7 priority - int32 p
8 preemptionPolicy - string p
""",
    "scheduling_v1alpha3.SingleCompositeDisruptionMode": """\
""",
    "scheduling_v1alpha3.SingleDisruptionMode": """\
""",
    "scheduling_v1alpha3.TopologyConstraint": """\
1 key - string a
""",
    "scheduling_v1alpha3.TypedLocalObjectReference": """\
1 apiGroup - string v
2 kind - string a
3 name - string a
""",
    "scheduling_v1alpha3.Workload": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - scheduling_v1alpha3.WorkloadSpec a
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupAllDisruptionMode": """\
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy": """\
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupDisruptionMode": """\
1 single - scheduling_v1alpha3.WorkloadCompositePodGroupSingleDisruptionMode p
2 all - scheduling_v1alpha3.WorkloadCompositePodGroupAllDisruptionMode p
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy": """\
1 minGroupCount - int32 p
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupSchedulingConstraints": """\
1 topology list scheduling_v1alpha3.TopologyConstraint p
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupSchedulingPolicy": """\
1 basic - scheduling_v1alpha3.WorkloadCompositePodGroupBasicSchedulingPolicy p
2 gang - scheduling_v1alpha3.WorkloadCompositePodGroupGangSchedulingPolicy p
""",
    "scheduling_v1alpha3.WorkloadCompositePodGroupSingleDisruptionMode": """\
""",
    "scheduling_v1alpha3.WorkloadList": """\
1 metadata - meta_v1.ListMeta a
2 items list scheduling_v1alpha3.Workload p
""",
    "scheduling_v1alpha3.WorkloadPodGroupAllDisruptionMode": """\
""",
    "scheduling_v1alpha3.WorkloadPodGroupBasicSchedulingPolicy": """\
""",
    "scheduling_v1alpha3.WorkloadPodGroupDisruptionMode": """\
1 single - scheduling_v1alpha3.WorkloadPodGroupSingleDisruptionMode p
2 all - scheduling_v1alpha3.WorkloadPodGroupAllDisruptionMode p
""",
    "scheduling_v1alpha3.WorkloadPodGroupGangSchedulingPolicy": """\
1 minCount - int32 p
""",
    "scheduling_v1alpha3.WorkloadPodGroupResourceClaim": """\
1 name - string a
2 resourceClaimName - string p
3 resourceClaimTemplateName - string p
""",
    "scheduling_v1alpha3.WorkloadPodGroupSchedulingConstraints": """\
1 topology list scheduling_v1alpha3.TopologyConstraint p
""",
    "scheduling_v1alpha3.WorkloadPodGroupSchedulingPolicy": """\
1 basic - scheduling_v1alpha3.WorkloadPodGroupBasicSchedulingPolicy p
2 gang - scheduling_v1alpha3.WorkloadPodGroupGangSchedulingPolicy p
""",
    "scheduling_v1alpha3.WorkloadPodGroupSingleDisruptionMode": """\
""",
    "scheduling_v1alpha3.WorkloadReference": """\
1 workloadName - string a
2 templateName - string a
""",
    "scheduling_v1alpha3.WorkloadSpec": """\
1 controllerRef - scheduling_v1alpha3.TypedLocalObjectReference p
2 podGroupTemplates list scheduling_v1alpha3.PodGroupTemplate p
3 compositePodGroupTemplates list scheduling_v1alpha3.CompositePodGroupTemplate p
""",
    "storage_v1.CSIDriver": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - storage_v1.CSIDriverSpec a
""",
    "storage_v1.CSIDriverList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.CSIDriver p
""",
    "storage_v1.CSIDriverSpec": """\
1 attachRequired - bool p
2 podInfoOnMount - bool p
3 volumeLifecycleModes list string p
4 storageCapacity - bool p
5 fsGroupPolicy - string p
6 tokenRequests list storage_v1.TokenRequest p
7 requiresRepublish - bool p
8 seLinuxMount - bool p
9 nodeAllocatableUpdatePeriodSeconds - int64 p
10 serviceAccountTokenInSecrets - bool p
11 preventPodSchedulingIfMissing - bool p
""",
    "storage_v1.CSINode": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - storage_v1.CSINodeSpec a
3 status - storage_v1.CSINodeStatus a
""",
    "storage_v1.CSINodeDriver": """\
1 name - string a
2 nodeID - string a
3 topologyKeys list string p
4 allocatable - storage_v1.VolumeNodeResources p
""",
    "storage_v1.CSINodeList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.CSINode p
""",
    "storage_v1.CSINodeSpec": """\
1 drivers list storage_v1.CSINodeDriver p
""",
    "storage_v1.CSINodeStatus": """\
1 storageHealth list storage_v1.StorageHealth p
""",
    "storage_v1.CSIStorageCapacity": """\
1 metadata - meta_v1.ObjectMeta a
2 nodeTopology - meta_v1.LabelSelector p
3 storageClassName - string a
4 capacity - Quantity p
5 maximumVolumeSize - Quantity p
""",
    "storage_v1.CSIStorageCapacityList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.CSIStorageCapacity p
""",
    "storage_v1.StorageClass": """\
1 metadata - meta_v1.ObjectMeta a
2 provisioner - string a
3 parameters map string p
4 reclaimPolicy - string p
5 mountOptions list string p
6 allowVolumeExpansion - bool p
7 volumeBindingMode - string p
8 allowedTopologies list core_v1.TopologySelectorTerm p
""",
    "storage_v1.StorageClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.StorageClass p
""",
    "storage_v1.StorageHealth": """\
1 name - string a
2 healthConditions list storage_v1.StorageHealthCondition p
""",
    "storage_v1.StorageHealthCondition": """\
1 status - string a
2 reason - string a
3 message - string v
4 accessMode - string p
5 volumeMode - string p
6 lastTransitionTime - Time n
""",
    "storage_v1.TokenRequest": """\
1 audience - string a
2 expirationSeconds - int64 p
""",
    "storage_v1.VolumeAttachment": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - storage_v1.VolumeAttachmentSpec a
3 status - storage_v1.VolumeAttachmentStatus a
""",
    "storage_v1.VolumeAttachmentList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.VolumeAttachment p
""",
    "storage_v1.VolumeAttachmentSource": """\
1 persistentVolumeName - string p
2 inlineVolumeSpec - core_v1.PersistentVolumeSpec p
""",
    "storage_v1.VolumeAttachmentSpec": """\
1 attacher - string a
2 source - storage_v1.VolumeAttachmentSource a
3 nodeName - string a
""",
    "storage_v1.VolumeAttachmentStatus": """\
1 attached - bool a
2 attachmentMetadata map string p
3 attachError - storage_v1.VolumeError p
4 detachError - storage_v1.VolumeError p
""",
    "storage_v1.VolumeAttributesClass": """\
1 metadata - meta_v1.ObjectMeta a
2 driverName - string a
3 parameters map string p
""",
    "storage_v1.VolumeAttributesClassList": """\
1 metadata - meta_v1.ListMeta a
2 items list storage_v1.VolumeAttributesClass p
""",
    "storage_v1.VolumeError": """\
1 time - Time n
2 message - string v
3 errorCode - int32 p
""",
    "storage_v1.VolumeNodeResources": """\
1 count - int32 p
""",
    "storagemigration_v1.StorageVersionMigration": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - storagemigration_v1.StorageVersionMigrationSpec a
3 status - storagemigration_v1.StorageVersionMigrationStatus a
""",
    "storagemigration_v1.StorageVersionMigrationList": """\
1 metadata - meta_v1.ListMeta a
2 items list storagemigration_v1.StorageVersionMigration p
""",
    "storagemigration_v1.StorageVersionMigrationSpec": """\
1 resource - meta_v1.GroupResource a
""",
    "storagemigration_v1.StorageVersionMigrationStatus": """\
1 conditions list meta_v1.Condition p
2 resourceVersion - string v
""",
    "storagemigration_v1beta1.StorageVersionMigration": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - storagemigration_v1beta1.StorageVersionMigrationSpec a
3 status - storagemigration_v1beta1.StorageVersionMigrationStatus a
""",
    "storagemigration_v1beta1.StorageVersionMigrationList": """\
1 metadata - meta_v1.ListMeta a
2 items list storagemigration_v1beta1.StorageVersionMigration p
""",
    "storagemigration_v1beta1.StorageVersionMigrationSpec": """\
1 resource - meta_v1.GroupResource a
""",
    "storagemigration_v1beta1.StorageVersionMigrationStatus": """\
1 conditions list meta_v1.Condition p
2 resourceVersion - string v
""",
    "apiextensions_v1.ConversionRequest": """\
1 uid - string a
2 desiredAPIVersion - string a
3 objects list Raw p
""",
    "apiextensions_v1.ConversionResponse": """\
1 uid - string a
2 convertedObjects list Raw p
3 result - meta_v1.Status a
""",
    "apiextensions_v1.ConversionReview": """\
1 request - apiextensions_v1.ConversionRequest p
2 response - apiextensions_v1.ConversionResponse p
""",
    "apiextensions_v1.CustomResourceColumnDefinition": """\
1 name - string a
2 type - string a
3 format - string v
4 description - string v
5 priority - int32 v
6 jsonPath - string a
""",
    "apiextensions_v1.CustomResourceConversion": """\
1 strategy - string a
2 webhook - apiextensions_v1.WebhookConversion p
""",
    "apiextensions_v1.CustomResourceDefinition": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apiextensions_v1.CustomResourceDefinitionSpec a
3 status - apiextensions_v1.CustomResourceDefinitionStatus a
""",
    "apiextensions_v1.CustomResourceDefinitionCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
6 observedGeneration - int64 v
""",
    "apiextensions_v1.CustomResourceDefinitionList": """\
1 metadata - meta_v1.ListMeta a
2 items list apiextensions_v1.CustomResourceDefinition p
""",
    "apiextensions_v1.CustomResourceDefinitionNames": """\
1 plural - string a
2 singular - string v
3 shortNames list string p
4 kind - string a
5 listKind - string v
6 categories list string p
""",
    "apiextensions_v1.CustomResourceDefinitionSpec": """\
1 group - string a
3 names - apiextensions_v1.CustomResourceDefinitionNames a
4 scope - string a
7 versions list apiextensions_v1.CustomResourceDefinitionVersion p
9 conversion - apiextensions_v1.CustomResourceConversion p
10 preserveUnknownFields - bool v
""",
    "apiextensions_v1.CustomResourceDefinitionStatus": """\
1 conditions list apiextensions_v1.CustomResourceDefinitionCondition p
2 acceptedNames - apiextensions_v1.CustomResourceDefinitionNames a
3 storedVersions list string p
4 observedGeneration - int64 v
""",
    "apiextensions_v1.CustomResourceDefinitionVersion": """\
1 name - string a
2 served - bool a
3 storage - bool a
4 schema - apiextensions_v1.CustomResourceValidation p
5 subresources - apiextensions_v1.CustomResourceSubresources p
6 additionalPrinterColumns list apiextensions_v1.CustomResourceColumnDefinition p
7 deprecated - bool v
8 deprecationWarning - string p
9 selectableFields list apiextensions_v1.SelectableField p
""",
    "apiextensions_v1.CustomResourceSubresourceScale": """\
1 specReplicasPath - string a
2 statusReplicasPath - string a
3 labelSelectorPath - string p
""",
    "apiextensions_v1.CustomResourceSubresourceStatus": """\
""",
    "apiextensions_v1.CustomResourceSubresources": """\
1 status - apiextensions_v1.CustomResourceSubresourceStatus p
2 scale - apiextensions_v1.CustomResourceSubresourceScale p
""",
    "apiextensions_v1.CustomResourceValidation": """\
1 openAPIV3Schema - apiextensions_v1.JSONSchemaProps p
""",
    "apiextensions_v1.ExternalDocumentation": """\
1 description - string v
2 url - string v
""",
    "apiextensions_v1.JSONSchemaProps": """\
1 id - string v
2 $schema - string v
3 $ref - string p
4 description - string v
5 type - string v
6 format - string v
7 title - string v
8 default - Raw p
9 maximum - double p
10 exclusiveMaximum - bool v
11 minimum - double p
12 exclusiveMinimum - bool v
13 maxLength - int64 p
14 minLength - int64 p
15 pattern - string v
16 maxItems - int64 p
17 minItems - int64 p
18 uniqueItems - bool v
19 multipleOf - double p
20 enum list Raw p
21 maxProperties - int64 p
22 minProperties - int64 p
23 required list string p
24 items - SchemaOrArray p
25 allOf list apiextensions_v1.JSONSchemaProps p
26 oneOf list apiextensions_v1.JSONSchemaProps p
27 anyOf list apiextensions_v1.JSONSchemaProps p
28 not - apiextensions_v1.JSONSchemaProps p
29 properties map apiextensions_v1.JSONSchemaProps p
30 additionalProperties - SchemaOrBool p
31 patternProperties map apiextensions_v1.JSONSchemaProps p
32 dependencies map SchemaOrStrings p
33 additionalItems - SchemaOrBool p
34 definitions map apiextensions_v1.JSONSchemaProps p
35 externalDocs - apiextensions_v1.ExternalDocumentation p
36 example - Raw p
37 nullable - bool v
38 x-kubernetes-preserve-unknown-fields - bool p
39 x-kubernetes-embedded-resource - bool v
40 x-kubernetes-int-or-string - bool v
41 x-kubernetes-list-map-keys list string p
42 x-kubernetes-list-type - string p
43 x-kubernetes-map-type - string p
44 x-kubernetes-validations list apiextensions_v1.ValidationRule p
""",
    "apiextensions_v1.SelectableField": """\
1 jsonPath - string a
""",
    "apiextensions_v1.ServiceReference": """\
1 namespace - string a
2 name - string a
3 path - string p
4 port - int32 p
""",
    "apiextensions_v1.ValidationRule": """\
1 rule - string a
2 message - string v
3 messageExpression - string v
4 reason - string p
5 fieldPath - string v
6 optionalOldSelf - bool p
""",
    "apiextensions_v1.WebhookClientConfig": """\
1 service - apiextensions_v1.ServiceReference p
2 caBundle - bytes v
3 url - string p
""",
    "apiextensions_v1.WebhookConversion": """\
2 clientConfig - apiextensions_v1.WebhookClientConfig p
3 conversionReviewVersions list string p
""",
    "meta_v1.APIGroup": """\
1 name - string a
2 versions list meta_v1.GroupVersionForDiscovery p
3 preferredVersion - meta_v1.GroupVersionForDiscovery a
4 serverAddressByClientCIDRs list meta_v1.ServerAddressByClientCIDR p
""",
    "meta_v1.APIGroupList": """\
1 groups list meta_v1.APIGroup p
""",
    "meta_v1.APIResource": """\
1 name - string a
2 namespaced - bool a
3 kind - string a
4 verbs - strings n
5 shortNames list string p
6 singularName - string a
7 categories list string p
8 group - string v
9 version - string v
10 storageVersionHash - string v
""",
    "meta_v1.APIResourceList": """\
1 groupVersion - string a
2 resources list meta_v1.APIResource p
""",
    "meta_v1.APIVersions": """\
1 versions list string p
2 serverAddressByClientCIDRs list meta_v1.ServerAddressByClientCIDR p
""",
    "meta_v1.ApplyOptions": """\
1 dryRun list string p
2 force - bool p
3 fieldManager - string p
""",
    "meta_v1.Condition": """\
1 type - string a
2 status - string a
3 observedGeneration - int64 v
4 lastTransitionTime - Time n
5 reason - string a
6 message - string a
""",
    "meta_v1.CreateOptions": """\
1 dryRun list string p
3 fieldManager - string v
4 fieldValidation - string v
""",
    "meta_v1.DeleteOptions": """\
1 gracePeriodSeconds - int64 p
2 preconditions - meta_v1.Preconditions p
3 orphanDependents - bool p
4 propagationPolicy - string p
5 dryRun list string p
6 ignoreStoreReadErrorWithClusterBreakingPotential - bool p
""",
    "meta_v1.Duration": """\
1 duration - int64 p
""",
    "meta_v1.FieldSelectorRequirement": """\
1 key - string a
2 operator - string a
3 values list string p
""",
    "meta_v1.GetOptions": """\
1 resourceVersion - string v
""",
    "meta_v1.GroupKind": """\
1 group - string p
2 kind - string p
""",
    "meta_v1.GroupResource": """\
1 group - string a
2 resource - string a
""",
    "meta_v1.GroupVersion": """\
1 group - string p
2 version - string p
""",
    "meta_v1.GroupVersionForDiscovery": """\
1 groupVersion - string a
2 version - string a
""",
    "meta_v1.GroupVersionKind": """\
1 group - string p
2 version - string p
3 kind - string p
""",
    "meta_v1.GroupVersionResource": """\
1 group - string p
2 version - string p
3 resource - string p
""",
    "meta_v1.LabelSelector": """\
1 matchLabels map string p
2 matchExpressions list meta_v1.LabelSelectorRequirement p
""",
    "meta_v1.LabelSelectorRequirement": """\
1 key - string a
2 operator - string a
3 values list string p
""",
    "meta_v1.List": """\
1 metadata - meta_v1.ListMeta a
2 items list Raw p
""",
    "meta_v1.ListMeta": """\
1 selfLink - string v
2 resourceVersion - string v
3 continue - string v
4 remainingItemCount - int64 p
5 shardInfo - meta_v1.ShardInfo p
""",
    "meta_v1.ListOptions": """\
1 labelSelector - string v
2 fieldSelector - string v
3 watch - bool v
4 resourceVersion - string v
5 timeoutSeconds - int64 p
7 limit - int64 v
8 continue - string v
9 allowWatchBookmarks - bool v
10 resourceVersionMatch - string v
11 sendInitialEvents - bool p
15 shardSelector - string v
""",
    "meta_v1.ManagedFieldsEntry": """\
1 manager - string v
2 operation - string v
3 apiVersion - string v
4 time - Time p
6 fieldsType - string v
7 fieldsV1 - Raw p
8 subresource - string v
""",
    "meta_v1.ObjectMeta": """\
1 name - string v
2 generateName - string v
3 namespace - string v
4 selfLink - string v
5 uid - string v
6 resourceVersion - string v
7 generation - int64 v
8 creationTimestamp - Time n
9 deletionTimestamp - Time p
10 deletionGracePeriodSeconds - int64 p
11 labels map string p
12 annotations map string p
13 ownerReferences list meta_v1.OwnerReference p
14 finalizers list string p
17 managedFields list meta_v1.ManagedFieldsEntry p
""",
    "meta_v1.OwnerReference": """\
1 kind - string a
3 name - string a
4 uid - string a
5 apiVersion - string a
6 controller - bool p
7 blockOwnerDeletion - bool p
""",
    "meta_v1.PartialObjectMetadata": """\
1 metadata - meta_v1.ObjectMeta a
""",
    "meta_v1.PartialObjectMetadataList": """\
1 metadata - meta_v1.ListMeta a
2 items list meta_v1.PartialObjectMetadata p
""",
    "meta_v1.Patch": """\
""",
    "meta_v1.PatchOptions": """\
1 dryRun list string p
2 force - bool p
3 fieldManager - string v
4 fieldValidation - string v
""",
    "meta_v1.Preconditions": """\
1 uid - string p
2 resourceVersion - string p
""",
    "meta_v1.RootPaths": """\
1 paths list string p
""",
    "meta_v1.ServerAddressByClientCIDR": """\
1 clientCIDR - string a
2 serverAddress - string a
""",
    "meta_v1.ShardInfo": """\
1 selector - string a
""",
    "meta_v1.Status": """\
1 metadata - meta_v1.ListMeta a
2 status - string v
3 message - string v
4 reason - string v
5 details - meta_v1.StatusDetails p
6 code - int32 v
""",
    "meta_v1.StatusCause": """\
1 reason - string v
2 message - string v
3 field - string v
""",
    "meta_v1.StatusDetails": """\
1 name - string v
2 group - string v
3 kind - string v
4 causes list meta_v1.StatusCause p
5 retryAfterSeconds - int32 v
6 uid - string v
""",
    "meta_v1.TableOptions": """\
1 includeObject - string p
""",
    "meta_v1.Timestamp": """\
1 seconds - int64 p
2 nanos - int32 p
""",
    "meta_v1.TypeMeta": """\
1 kind - string v
2 apiVersion - string v
""",
    "meta_v1.UpdateOptions": """\
1 dryRun list string p
2 fieldManager - string v
3 fieldValidation - string v
""",
    "meta_v1.Verbs": """\
1 items list string p
""",
    "meta_v1.WatchEvent": """\
1 type - string a
2 object - Raw n
""",
    "apiregistration_v1.APIService": """\
1 metadata - meta_v1.ObjectMeta a
2 spec - apiregistration_v1.APIServiceSpec a
3 status - apiregistration_v1.APIServiceStatus a
""",
    "apiregistration_v1.APIServiceCondition": """\
1 type - string a
2 status - string a
3 lastTransitionTime - Time n
4 reason - string v
5 message - string v
""",
    "apiregistration_v1.APIServiceList": """\
1 metadata - meta_v1.ListMeta a
2 items list apiregistration_v1.APIService p
""",
    "apiregistration_v1.APIServiceSpec": """\
1 service - apiregistration_v1.ServiceReference p
2 group - string v
3 version - string v
4 insecureSkipTLSVerify - bool v
5 caBundle - bytes v
7 groupPriorityMinimum - int32 a
8 versionPriority - int32 a
""",
    "apiregistration_v1.APIServiceStatus": """\
1 conditions list apiregistration_v1.APIServiceCondition p
""",
    "apiregistration_v1.ServiceReference": """\
1 namespace - string v
2 name - string v
3 port - int32 p
""",
}
