# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

__all__ = ["FACTS"]

FACTS: dict[str, dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...], str]]] = {
    "admissionregistration_v1.MatchResources": {
        "excludeResourceRules": ("atomic", (), "", (), ""),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "objectSelector": ("", (), "atomic", (), ""),
        "resourceRules": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.MutatingAdmissionPolicyBindingSpec": {
        "matchResources": ("", (), "atomic", (), ""),
        "paramRef": ("", (), "atomic", (), ""),
    },
    "admissionregistration_v1.MutatingAdmissionPolicySpec": {
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "matchConstraints": ("", (), "atomic", (), ""),
        "mutations": ("atomic", (), "", (), ""),
        "paramKind": ("", (), "atomic", (), ""),
        "variables": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.MutatingWebhook": {
        "admissionReviewVersions": ("atomic", (), "", (), ""),
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "objectSelector": ("", (), "atomic", (), ""),
        "rules": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.MutatingWebhookConfiguration": {
        "webhooks": ("map", ("name",), "", ("merge",), "name"),
    },
    "admissionregistration_v1.NamedRuleWithOperations": {
        "apiGroups": ("atomic", (), "", (), ""),
        "apiVersions": ("atomic", (), "", (), ""),
        "operations": ("atomic", (), "", (), ""),
        "resourceNames": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.ParamRef": {
        "selector": ("", (), "atomic", (), ""),
    },
    "admissionregistration_v1.RuleWithOperations": {
        "apiGroups": ("atomic", (), "", (), ""),
        "apiVersions": ("atomic", (), "", (), ""),
        "operations": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.TypeChecking": {
        "expressionWarnings": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.ValidatingAdmissionPolicyBindingSpec": {
        "matchResources": ("", (), "atomic", (), ""),
        "paramRef": ("", (), "atomic", (), ""),
        "validationActions": ("set", (), "", (), ""),
    },
    "admissionregistration_v1.ValidatingAdmissionPolicySpec": {
        "auditAnnotations": ("atomic", (), "", (), ""),
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "matchConstraints": ("", (), "atomic", (), ""),
        "paramKind": ("", (), "atomic", (), ""),
        "validations": ("atomic", (), "", (), ""),
        "variables": ("map", ("name",), "", ("merge",), "name"),
    },
    "admissionregistration_v1.ValidatingAdmissionPolicyStatus": {
        "conditions": ("map", ("type",), "", (), ""),
    },
    "admissionregistration_v1.ValidatingWebhook": {
        "admissionReviewVersions": ("atomic", (), "", (), ""),
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "objectSelector": ("", (), "atomic", (), ""),
        "rules": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1.ValidatingWebhookConfiguration": {
        "webhooks": ("map", ("name",), "", ("merge",), "name"),
    },
    "admissionregistration_v1alpha1.MatchResources": {
        "excludeResourceRules": ("atomic", (), "", (), ""),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "objectSelector": ("", (), "atomic", (), ""),
        "resourceRules": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1alpha1.MutatingAdmissionPolicyBindingSpec": {
        "matchResources": ("", (), "atomic", (), ""),
        "paramRef": ("", (), "atomic", (), ""),
    },
    "admissionregistration_v1alpha1.MutatingAdmissionPolicySpec": {
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "matchConstraints": ("", (), "atomic", (), ""),
        "mutations": ("atomic", (), "", (), ""),
        "paramKind": ("", (), "atomic", (), ""),
        "variables": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1alpha1.NamedRuleWithOperations": {
        "apiGroups": ("atomic", (), "", (), ""),
        "apiVersions": ("atomic", (), "", (), ""),
        "operations": ("atomic", (), "", (), ""),
        "resourceNames": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1alpha1.ParamRef": {
        "selector": ("", (), "atomic", (), ""),
    },
    "admissionregistration_v1beta1.MatchResources": {
        "excludeResourceRules": ("atomic", (), "", (), ""),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "objectSelector": ("", (), "atomic", (), ""),
        "resourceRules": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1beta1.MutatingAdmissionPolicyBindingSpec": {
        "matchResources": ("", (), "atomic", (), ""),
        "paramRef": ("", (), "atomic", (), ""),
    },
    "admissionregistration_v1beta1.MutatingAdmissionPolicySpec": {
        "matchConditions": ("map", ("name",), "", ("merge",), "name"),
        "matchConstraints": ("", (), "atomic", (), ""),
        "mutations": ("atomic", (), "", (), ""),
        "paramKind": ("", (), "atomic", (), ""),
        "variables": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1beta1.NamedRuleWithOperations": {
        "apiGroups": ("atomic", (), "", (), ""),
        "apiVersions": ("atomic", (), "", (), ""),
        "operations": ("atomic", (), "", (), ""),
        "resourceNames": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
    },
    "admissionregistration_v1beta1.ParamRef": {
        "selector": ("", (), "atomic", (), ""),
    },
    "apiextensions_v1.CustomResourceDefinitionNames": {
        "categories": ("atomic", (), "", (), ""),
        "shortNames": ("atomic", (), "", (), ""),
    },
    "apiextensions_v1.CustomResourceDefinitionSpec": {
        "versions": ("atomic", (), "", (), ""),
    },
    "apiextensions_v1.CustomResourceDefinitionStatus": {
        "conditions": ("map", ("type",), "", (), ""),
        "storedVersions": ("atomic", (), "", (), ""),
    },
    "apiextensions_v1.CustomResourceDefinitionVersion": {
        "additionalPrinterColumns": ("atomic", (), "", (), ""),
        "selectableFields": ("atomic", (), "", (), ""),
    },
    "apiextensions_v1.JSONSchemaProps": {
        "allOf": ("atomic", (), "", (), ""),
        "anyOf": ("atomic", (), "", (), ""),
        "enum": ("atomic", (), "", (), ""),
        "oneOf": ("atomic", (), "", (), ""),
        "required": ("atomic", (), "", (), ""),
        "x-kubernetes-list-map-keys": ("atomic", (), "", (), ""),
        "x-kubernetes-validations": ("map", ("rule",), "", ("merge",), "rule"),
    },
    "apiextensions_v1.WebhookConversion": {
        "conversionReviewVersions": ("atomic", (), "", (), ""),
    },
    "apiregistration_v1.APIServiceSpec": {
        "caBundle": ("atomic", (), "", (), ""),
    },
    "apiregistration_v1.APIServiceStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "apiserverinternal_v1alpha1.ServerStorageVersion": {
        "decodableVersions": ("set", (), "", (), ""),
        "servedVersions": ("set", (), "", (), ""),
    },
    "apiserverinternal_v1alpha1.StorageVersionStatus": {
        "conditions": ("map", ("type",), "", (), ""),
        "storageVersions": ("map", ("apiServerID",), "", (), ""),
    },
    "apps_v1.DaemonSetSpec": {
        "selector": ("", (), "atomic", (), ""),
    },
    "apps_v1.DaemonSetStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "apps_v1.DeploymentSpec": {
        "selector": ("", (), "atomic", (), ""),
        "strategy": ("", (), "", ("retainKeys",), ""),
    },
    "apps_v1.DeploymentStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "apps_v1.ReplicaSetSpec": {
        "selector": ("", (), "atomic", (), ""),
    },
    "apps_v1.ReplicaSetStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "apps_v1.StatefulSetSpec": {
        "selector": ("", (), "atomic", (), ""),
        "volumeClaimTemplates": ("atomic", (), "", (), ""),
    },
    "apps_v1.StatefulSetStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "authentication_v1.TokenRequestSpec": {
        "audiences": ("atomic", (), "", (), ""),
    },
    "authentication_v1.TokenReviewSpec": {
        "audiences": ("atomic", (), "", (), ""),
    },
    "authentication_v1.TokenReviewStatus": {
        "audiences": ("atomic", (), "", (), ""),
    },
    "authentication_v1.UserInfo": {
        "groups": ("atomic", (), "", (), ""),
    },
    "authorization_v1.FieldSelectorAttributes": {
        "requirements": ("atomic", (), "", (), ""),
    },
    "authorization_v1.LabelSelectorAttributes": {
        "requirements": ("atomic", (), "", (), ""),
    },
    "authorization_v1.NonResourceRule": {
        "nonResourceURLs": ("atomic", (), "", (), ""),
        "verbs": ("atomic", (), "", (), ""),
    },
    "authorization_v1.ResourceRule": {
        "apiGroups": ("atomic", (), "", (), ""),
        "resourceNames": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
        "verbs": ("atomic", (), "", (), ""),
    },
    "authorization_v1.SubjectAccessReviewSpec": {
        "groups": ("atomic", (), "", (), ""),
    },
    "authorization_v1.SubjectRulesReviewStatus": {
        "nonResourceRules": ("atomic", (), "", (), ""),
        "resourceRules": ("atomic", (), "", (), ""),
    },
    "autoscaling_v1.HorizontalPodAutoscalerSpec": {
        "scaleTargetRef": ("", (), "atomic", (), ""),
    },
    "autoscaling_v2.HPAScalingRules": {
        "policies": ("atomic", (), "", (), ""),
    },
    "autoscaling_v2.HorizontalPodAutoscalerSpec": {
        "metrics": ("atomic", (), "", (), ""),
    },
    "autoscaling_v2.HorizontalPodAutoscalerStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
        "currentMetrics": ("atomic", (), "", (), ""),
    },
    "autoscaling_v2.MetricIdentifier": {
        "selector": ("", (), "atomic", (), ""),
    },
    "batch_v1.CronJobStatus": {
        "active": ("atomic", (), "", (), ""),
    },
    "batch_v1.JobSchedulingConfiguration": {
        "resourceClaims": ("map", ("name",), "", ("merge",), "name"),
    },
    "batch_v1.JobSpec": {
        "selector": ("", (), "atomic", (), ""),
    },
    "batch_v1.JobStatus": {
        "conditions": ("atomic", (), "", ("merge",), "type"),
    },
    "batch_v1.PodFailurePolicy": {
        "rules": ("atomic", (), "", (), ""),
    },
    "batch_v1.PodFailurePolicyOnExitCodesRequirement": {
        "values": ("set", (), "", (), ""),
    },
    "batch_v1.PodFailurePolicyRule": {
        "onPodConditions": ("atomic", (), "", (), ""),
    },
    "batch_v1.SuccessPolicy": {
        "rules": ("atomic", (), "", (), ""),
    },
    "batch_v1.UncountedTerminatedPods": {
        "failed": ("set", (), "", (), ""),
        "succeeded": ("set", (), "", (), ""),
    },
    "certificates_v1.CertificateSigningRequestSpec": {
        "groups": ("atomic", (), "", (), ""),
        "usages": ("atomic", (), "", (), ""),
    },
    "certificates_v1.CertificateSigningRequestStatus": {
        "conditions": ("map", ("type",), "", (), ""),
    },
    "certificates_v1.PodCertificateRequestStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "certificates_v1beta1.PodCertificateRequestStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.Binding": {
        "target": ("", (), "atomic", (), ""),
    },
    "core_v1.CSIPersistentVolumeSource": {
        "controllerExpandSecretRef": ("", (), "atomic", (), ""),
        "controllerPublishSecretRef": ("", (), "atomic", (), ""),
        "nodeExpandSecretRef": ("", (), "atomic", (), ""),
        "nodePublishSecretRef": ("", (), "atomic", (), ""),
        "nodeStageSecretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.CSIVolumeSource": {
        "nodePublishSecretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.Capabilities": {
        "add": ("atomic", (), "", (), ""),
        "drop": ("atomic", (), "", (), ""),
    },
    "core_v1.CephFSPersistentVolumeSource": {
        "monitors": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.CephFSVolumeSource": {
        "monitors": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.CinderPersistentVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.CinderVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.ClusterTrustBundleProjection": {
        "labelSelector": ("", (), "atomic", (), ""),
    },
    "core_v1.ComponentStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.ConfigMapProjection": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.ConfigMapVolumeSource": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.Container": {
        "args": ("atomic", (), "", (), ""),
        "command": ("atomic", (), "", (), ""),
        "env": ("map", ("name",), "", ("merge",), "name"),
        "envFrom": ("atomic", (), "", (), ""),
        "ports": ("map", ("containerPort", "protocol"), "", ("merge",), "containerPort"),
        "resizePolicy": ("atomic", (), "", (), ""),
        "restartPolicyRules": ("atomic", (), "", (), ""),
        "volumeDevices": ("map", ("devicePath",), "", ("merge",), "devicePath"),
        "volumeMounts": ("map", ("mountPath",), "", ("merge",), "mountPath"),
    },
    "core_v1.ContainerImage": {
        "names": ("atomic", (), "", (), ""),
    },
    "core_v1.ContainerRestartRuleOnExitCodes": {
        "values": ("set", (), "", (), ""),
    },
    "core_v1.ContainerStatus": {
        "allocatedResourcesStatus": ("map", ("name",), "", ("merge",), "name"),
        "volumeMounts": ("map", ("mountPath",), "", ("merge",), "mountPath"),
    },
    "core_v1.DownwardAPIProjection": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.DownwardAPIVolumeFile": {
        "fieldRef": ("", (), "atomic", (), ""),
        "resourceFieldRef": ("", (), "atomic", (), ""),
    },
    "core_v1.DownwardAPIVolumeSource": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.EndpointAddress": {
        "targetRef": ("", (), "atomic", (), ""),
    },
    "core_v1.EndpointSubset": {
        "addresses": ("atomic", (), "", (), ""),
        "notReadyAddresses": ("atomic", (), "", (), ""),
        "ports": ("atomic", (), "", (), ""),
    },
    "core_v1.Endpoints": {
        "subsets": ("atomic", (), "", (), ""),
    },
    "core_v1.EnvVarSource": {
        "configMapKeyRef": ("", (), "atomic", (), ""),
        "fieldRef": ("", (), "atomic", (), ""),
        "fileKeyRef": ("", (), "atomic", (), ""),
        "resourceFieldRef": ("", (), "atomic", (), ""),
        "secretKeyRef": ("", (), "atomic", (), ""),
    },
    "core_v1.EphemeralContainer": {
        "args": ("atomic", (), "", (), ""),
        "command": ("atomic", (), "", (), ""),
        "env": ("map", ("name",), "", ("merge",), "name"),
        "envFrom": ("atomic", (), "", (), ""),
        "ports": ("map", ("containerPort", "protocol"), "", ("merge",), "containerPort"),
        "resizePolicy": ("atomic", (), "", (), ""),
        "restartPolicyRules": ("atomic", (), "", (), ""),
        "volumeDevices": ("map", ("devicePath",), "", ("merge",), "devicePath"),
        "volumeMounts": ("map", ("mountPath",), "", ("merge",), "mountPath"),
    },
    "core_v1.Event": {
        "involvedObject": ("", (), "atomic", (), ""),
        "related": ("", (), "atomic", (), ""),
    },
    "core_v1.ExecAction": {
        "command": ("atomic", (), "", (), ""),
    },
    "core_v1.FCVolumeSource": {
        "targetWWNs": ("atomic", (), "", (), ""),
        "wwids": ("atomic", (), "", (), ""),
    },
    "core_v1.FlexPersistentVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.FlexVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.HTTPGetAction": {
        "httpHeaders": ("atomic", (), "", (), ""),
    },
    "core_v1.HostAlias": {
        "hostnames": ("atomic", (), "", (), ""),
    },
    "core_v1.ISCSIPersistentVolumeSource": {
        "portals": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.ISCSIVolumeSource": {
        "portals": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.LimitRangeSpec": {
        "limits": ("atomic", (), "", (), ""),
    },
    "core_v1.LinuxContainerUser": {
        "supplementalGroups": ("atomic", (), "", (), ""),
    },
    "core_v1.LoadBalancerIngress": {
        "ports": ("atomic", (), "", (), ""),
    },
    "core_v1.LoadBalancerStatus": {
        "ingress": ("atomic", (), "", (), ""),
    },
    "core_v1.NamespaceSpec": {
        "finalizers": ("atomic", (), "", (), ""),
    },
    "core_v1.NamespaceStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.NodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": ("atomic", (), "", (), ""),
        "requiredDuringSchedulingIgnoredDuringExecution": ("", (), "atomic", (), ""),
    },
    "core_v1.NodeAllocatableResourceClaimStatus": {
        "containers": ("set", (), "", (), ""),
        "mapping": ("map", ("name",), "", ("merge",), "name"),
        "overhead": ("map", ("name",), "", ("merge",), "name"),
    },
    "core_v1.NodePodPreemptionPolicy": {
        "disableResizePreemption": ("set", (), "", (), ""),
    },
    "core_v1.NodeSelector": {
        "nodeSelectorTerms": ("atomic", (), "", (), ""),
    },
    "core_v1.NodeSelectorRequirement": {
        "values": ("atomic", (), "", (), ""),
    },
    "core_v1.NodeSelectorTerm": {
        "matchExpressions": ("atomic", (), "", (), ""),
        "matchFields": ("atomic", (), "", (), ""),
    },
    "core_v1.NodeSpec": {
        "podCIDRs": ("set", (), "", ("merge",), ""),
        "taints": ("atomic", (), "", (), ""),
    },
    "core_v1.NodeStatus": {
        "addresses": ("map", ("type",), "", ("merge",), "type"),
        "conditions": ("map", ("type",), "", ("merge",), "type"),
        "declaredFeatures": ("atomic", (), "", (), ""),
        "images": ("atomic", (), "", (), ""),
        "runtimeHandlers": ("atomic", (), "", (), ""),
        "volumesAttached": ("atomic", (), "", (), ""),
        "volumesInUse": ("atomic", (), "", (), ""),
    },
    "core_v1.PersistentVolumeClaimSpec": {
        "accessModes": ("atomic", (), "", (), ""),
        "dataSource": ("", (), "atomic", (), ""),
        "selector": ("", (), "atomic", (), ""),
    },
    "core_v1.PersistentVolumeClaimStatus": {
        "accessModes": ("atomic", (), "", (), ""),
        "allocatedResourceStatuses": ("", (), "granular", (), ""),
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.PersistentVolumeSpec": {
        "accessModes": ("atomic", (), "", (), ""),
        "claimRef": ("", (), "granular", (), ""),
        "mountOptions": ("atomic", (), "", (), ""),
    },
    "core_v1.PodAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": ("atomic", (), "", (), ""),
        "requiredDuringSchedulingIgnoredDuringExecution": ("atomic", (), "", (), ""),
    },
    "core_v1.PodAffinityTerm": {
        "labelSelector": ("", (), "atomic", (), ""),
        "matchLabelKeys": ("atomic", (), "", (), ""),
        "mismatchLabelKeys": ("atomic", (), "", (), ""),
        "namespaceSelector": ("", (), "atomic", (), ""),
        "namespaces": ("atomic", (), "", (), ""),
    },
    "core_v1.PodAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": ("atomic", (), "", (), ""),
        "requiredDuringSchedulingIgnoredDuringExecution": ("atomic", (), "", (), ""),
    },
    "core_v1.PodDNSConfig": {
        "nameservers": ("atomic", (), "", (), ""),
        "options": ("atomic", (), "", (), ""),
        "searches": ("atomic", (), "", (), ""),
    },
    "core_v1.PodExtendedResourceClaimStatus": {
        "requestMappings": ("atomic", (), "", (), ""),
    },
    "core_v1.PodSecurityContext": {
        "supplementalGroups": ("atomic", (), "", (), ""),
        "sysctls": ("atomic", (), "", (), ""),
    },
    "core_v1.PodSpec": {
        "containers": ("map", ("name",), "", ("merge",), "name"),
        "ephemeralContainers": ("map", ("name",), "", ("merge",), "name"),
        "evictionResponders": ("map", ("name",), "", ("merge",), "name"),
        "hostAliases": ("map", ("ip",), "", ("merge",), "ip"),
        "imagePullSecrets": ("map", ("name",), "", ("merge",), "name"),
        "initContainers": ("map", ("name",), "", ("merge",), "name"),
        "nodeSelector": ("", (), "atomic", (), ""),
        "readinessGates": ("atomic", (), "", (), ""),
        "resourceClaims": ("map", ("name",), "", ("merge", "retainKeys"), "name"),
        "schedulingGates": ("map", ("name",), "", ("merge",), "name"),
        "tolerations": ("atomic", (), "", (), ""),
        "topologySpreadConstraints": ("map", ("topologyKey", "whenUnsatisfiable"), "", ("merge",), "topologyKey"),
        "volumes": ("map", ("name",), "", ("merge", "retainKeys"), "name"),
    },
    "core_v1.PodStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
        "containerStatuses": ("atomic", (), "", (), ""),
        "ephemeralContainerStatuses": ("atomic", (), "", (), ""),
        "hostIPs": ("atomic", (), "", ("merge",), "ip"),
        "initContainerStatuses": ("atomic", (), "", (), ""),
        "nodeAllocatableResourceClaimStatuses": ("map", ("resourceClaimName",), "", ("merge",), "resourceClaimName"),
        "podIPs": ("map", ("ip",), "", ("merge",), "ip"),
        "resourceClaimStatuses": ("map", ("name",), "", ("merge", "retainKeys"), "name"),
        "volumeHealth": ("map", ("name",), "", (), ""),
    },
    "core_v1.PodVolumeHealth": {
        "healthConditions": ("map", ("status", "reason"), "", ("merge",), "status"),
    },
    "core_v1.PreferredSchedulingTerm": {
        "preference": ("", (), "atomic", (), ""),
    },
    "core_v1.ProjectedVolumeSource": {
        "sources": ("atomic", (), "", (), ""),
    },
    "core_v1.RBDPersistentVolumeSource": {
        "monitors": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.RBDVolumeSource": {
        "monitors": ("atomic", (), "", (), ""),
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.ReplicationControllerSpec": {
        "selector": ("", (), "atomic", (), ""),
    },
    "core_v1.ReplicationControllerStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.ResourceQuotaSpec": {
        "scopeSelector": ("", (), "atomic", (), ""),
        "scopes": ("atomic", (), "", (), ""),
    },
    "core_v1.ResourceRequirements": {
        "claims": ("map", ("name",), "", (), ""),
    },
    "core_v1.ResourceStatus": {
        "resources": ("map", ("resourceID",), "", (), ""),
    },
    "core_v1.ScaleIOPersistentVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.ScaleIOVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.ScopeSelector": {
        "matchExpressions": ("atomic", (), "", (), ""),
    },
    "core_v1.ScopedResourceSelectorRequirement": {
        "values": ("atomic", (), "", (), ""),
    },
    "core_v1.SecretProjection": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.SecretVolumeSource": {
        "items": ("atomic", (), "", (), ""),
    },
    "core_v1.ServiceAccount": {
        "imagePullSecrets": ("atomic", (), "", (), ""),
        "secrets": ("map", ("name",), "", ("merge",), "name"),
    },
    "core_v1.ServiceSpec": {
        "clusterIPs": ("atomic", (), "", (), ""),
        "externalIPs": ("atomic", (), "", (), ""),
        "ipFamilies": ("atomic", (), "", (), ""),
        "loadBalancerSourceRanges": ("atomic", (), "", (), ""),
        "ports": ("map", ("port", "protocol"), "", ("merge",), "port"),
        "selector": ("", (), "atomic", (), ""),
    },
    "core_v1.ServiceStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "core_v1.StorageOSPersistentVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.StorageOSVolumeSource": {
        "secretRef": ("", (), "atomic", (), ""),
    },
    "core_v1.TopologySelectorLabelRequirement": {
        "values": ("atomic", (), "", (), ""),
    },
    "core_v1.TopologySelectorTerm": {
        "matchLabelExpressions": ("atomic", (), "", (), ""),
    },
    "core_v1.TopologySpreadConstraint": {
        "labelSelector": ("", (), "atomic", (), ""),
        "matchLabelKeys": ("atomic", (), "", (), ""),
    },
    "core_v1.VolumeHealthStatus": {
        "healthConditions": ("map", ("status", "reason"), "", ("merge",), "status"),
    },
    "core_v1.VolumeMount": {
        "bindMountOptions": ("set", (), "", (), ""),
    },
    "core_v1.VolumeNodeAffinity": {
        "required": ("", (), "atomic", (), ""),
    },
    "discovery_v1.Endpoint": {
        "addresses": ("set", (), "", (), ""),
        "targetRef": ("", (), "atomic", (), ""),
    },
    "discovery_v1.EndpointHints": {
        "forNodes": ("atomic", (), "", (), ""),
        "forZones": ("atomic", (), "", (), ""),
    },
    "discovery_v1.EndpointSlice": {
        "endpoints": ("atomic", (), "", (), ""),
        "ports": ("atomic", (), "", (), ""),
    },
    "events_v1.Event": {
        "regarding": ("", (), "atomic", (), ""),
        "related": ("", (), "atomic", (), ""),
    },
    "flowcontrol_v1.FlowSchemaSpec": {
        "rules": ("atomic", (), "", (), ""),
    },
    "flowcontrol_v1.FlowSchemaStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "flowcontrol_v1.NonResourcePolicyRule": {
        "nonResourceURLs": ("set", (), "", (), ""),
        "verbs": ("set", (), "", (), ""),
    },
    "flowcontrol_v1.PolicyRulesWithSubjects": {
        "nonResourceRules": ("atomic", (), "", (), ""),
        "resourceRules": ("atomic", (), "", (), ""),
        "subjects": ("atomic", (), "", (), ""),
    },
    "flowcontrol_v1.PriorityLevelConfigurationStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "flowcontrol_v1.ResourcePolicyRule": {
        "apiGroups": ("set", (), "", (), ""),
        "namespaces": ("set", (), "", (), ""),
        "resources": ("set", (), "", (), ""),
        "verbs": ("set", (), "", (), ""),
    },
    "meta_v1.APIGroup": {
        "serverAddressByClientCIDRs": ("atomic", (), "", (), ""),
        "versions": ("atomic", (), "", (), ""),
    },
    "meta_v1.APIGroupList": {
        "groups": ("atomic", (), "", (), ""),
    },
    "meta_v1.APIResource": {
        "categories": ("atomic", (), "", (), ""),
        "shortNames": ("atomic", (), "", (), ""),
    },
    "meta_v1.APIResourceList": {
        "resources": ("atomic", (), "", (), ""),
    },
    "meta_v1.APIVersions": {
        "serverAddressByClientCIDRs": ("atomic", (), "", (), ""),
        "versions": ("atomic", (), "", (), ""),
    },
    "meta_v1.DeleteOptions": {
        "dryRun": ("atomic", (), "", (), ""),
    },
    "meta_v1.FieldSelectorRequirement": {
        "values": ("atomic", (), "", (), ""),
    },
    "meta_v1.LabelSelector": {
        "matchExpressions": ("atomic", (), "", (), ""),
    },
    "meta_v1.LabelSelectorRequirement": {
        "values": ("atomic", (), "", (), ""),
    },
    "meta_v1.ObjectMeta": {
        "finalizers": ("set", (), "", ("merge",), ""),
        "managedFields": ("atomic", (), "", (), ""),
        "ownerReferences": ("map", ("uid",), "", ("merge",), "uid"),
    },
    "meta_v1.StatusDetails": {
        "causes": ("atomic", (), "", (), ""),
    },
    "networking_v1.HTTPIngressRuleValue": {
        "paths": ("atomic", (), "", (), ""),
    },
    "networking_v1.IPBlock": {
        "except": ("atomic", (), "", (), ""),
    },
    "networking_v1.IngressBackend": {
        "resource": ("", (), "atomic", (), ""),
    },
    "networking_v1.IngressLoadBalancerIngress": {
        "ports": ("atomic", (), "", (), ""),
    },
    "networking_v1.IngressLoadBalancerStatus": {
        "ingress": ("atomic", (), "", (), ""),
    },
    "networking_v1.IngressServiceBackend": {
        "port": ("", (), "atomic", (), ""),
    },
    "networking_v1.IngressSpec": {
        "rules": ("atomic", (), "", (), ""),
        "tls": ("atomic", (), "", (), ""),
    },
    "networking_v1.IngressTLS": {
        "hosts": ("atomic", (), "", (), ""),
    },
    "networking_v1.NetworkPolicyEgressRule": {
        "ports": ("atomic", (), "", (), ""),
        "to": ("atomic", (), "", (), ""),
    },
    "networking_v1.NetworkPolicyIngressRule": {
        "from": ("atomic", (), "", (), ""),
        "ports": ("atomic", (), "", (), ""),
    },
    "networking_v1.NetworkPolicyPeer": {
        "namespaceSelector": ("", (), "atomic", (), ""),
        "podSelector": ("", (), "atomic", (), ""),
    },
    "networking_v1.NetworkPolicySpec": {
        "egress": ("atomic", (), "", (), ""),
        "ingress": ("atomic", (), "", (), ""),
        "podSelector": ("", (), "atomic", (), ""),
        "policyTypes": ("atomic", (), "", (), ""),
    },
    "networking_v1.ServiceCIDRSpec": {
        "cidrs": ("atomic", (), "", (), ""),
    },
    "networking_v1.ServiceCIDRStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "node_v1.Scheduling": {
        "nodeSelector": ("", (), "atomic", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "policy_v1.PodDisruptionBudgetSpec": {
        "selector": ("", (), "atomic", ("replace",), ""),
    },
    "policy_v1.PodDisruptionBudgetStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "rbac_v1.AggregationRule": {
        "clusterRoleSelectors": ("atomic", (), "", (), ""),
    },
    "rbac_v1.ClusterRole": {
        "rules": ("atomic", (), "", (), ""),
    },
    "rbac_v1.ClusterRoleBinding": {
        "roleRef": ("", (), "atomic", (), ""),
        "subjects": ("atomic", (), "", (), ""),
    },
    "rbac_v1.PolicyRule": {
        "apiGroups": ("atomic", (), "", (), ""),
        "nonResourceURLs": ("atomic", (), "", (), ""),
        "resourceNames": ("atomic", (), "", (), ""),
        "resources": ("atomic", (), "", (), ""),
        "verbs": ("atomic", (), "", (), ""),
    },
    "rbac_v1.Role": {
        "rules": ("atomic", (), "", (), ""),
    },
    "rbac_v1.RoleBinding": {
        "roleRef": ("", (), "atomic", (), ""),
        "subjects": ("atomic", (), "", (), ""),
    },
    "resource_v1.AllocatedDeviceStatus": {
        "conditions": ("map", ("type",), "", (), ""),
    },
    "resource_v1.AllocationResult": {
        "nodeSelector": ("", (), "atomic", (), ""),
    },
    "resource_v1.CapacityRequestPolicy": {
        "validValues": ("atomic", (), "", (), ""),
    },
    "resource_v1.Device": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "consumesCounters": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "taints": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceAllocationConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceAllocationResult": {
        "config": ("atomic", (), "", (), ""),
        "results": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceAttribute": {
        "bools": ("atomic", (), "", (), ""),
        "ints": ("atomic", (), "", (), ""),
        "strings": ("atomic", (), "", (), ""),
        "versions": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceClaim": {
        "config": ("atomic", (), "", (), ""),
        "constraints": ("atomic", (), "", (), ""),
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceClaimConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceClassSpec": {
        "config": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceConstraint": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceCounterConsumption": {
        "compatibilityGroups": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceRequest": {
        "firstAvailable": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceRequestAllocationResult": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceSubRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1.DeviceTaintRuleStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "resource_v1.ExactDeviceRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1.NetworkDeviceData": {
        "ips": ("atomic", (), "", (), ""),
    },
    "resource_v1.ResourceClaimStatus": {
        "devices": ("map", ("driver", "device", "pool", "shareID"), "", (), ""),
        "reservedFor": ("map", ("uid",), "", ("merge",), "uid"),
    },
    "resource_v1.ResourceSliceSpec": {
        "devices": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "sharedCounters": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
    },
    "resource_v1alpha3.DeviceTaintRuleStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "resource_v1alpha3.PoolStatus": {
        "partitionSummary": ("atomic", (), "", (), ""),
    },
    "resource_v1alpha3.ResourcePoolStatusRequestStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
        "pools": ("atomic", (), "", (), ""),
    },
    "resource_v1alpha3.ShareableSummaryStatus": {
        "capacity": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.AllocatedDeviceStatus": {
        "conditions": ("map", ("type",), "", (), ""),
    },
    "resource_v1beta1.AllocationResult": {
        "nodeSelector": ("", (), "atomic", (), ""),
    },
    "resource_v1beta1.BasicDevice": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "consumesCounters": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "taints": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.CapacityRequestPolicy": {
        "validValues": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceAllocationConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceAllocationResult": {
        "config": ("atomic", (), "", (), ""),
        "results": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceAttribute": {
        "bools": ("atomic", (), "", (), ""),
        "ints": ("atomic", (), "", (), ""),
        "strings": ("atomic", (), "", (), ""),
        "versions": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceClaim": {
        "config": ("atomic", (), "", (), ""),
        "constraints": ("atomic", (), "", (), ""),
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceClaimConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceClassSpec": {
        "config": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceConstraint": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceCounterConsumption": {
        "compatibilityGroups": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "firstAvailable": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceRequestAllocationResult": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.DeviceSubRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.NetworkDeviceData": {
        "ips": ("atomic", (), "", (), ""),
    },
    "resource_v1beta1.ResourceClaimStatus": {
        "devices": ("map", ("driver", "device", "pool", "shareID"), "", (), ""),
        "reservedFor": ("map", ("uid",), "", ("merge",), "uid"),
    },
    "resource_v1beta1.ResourceSliceSpec": {
        "devices": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "sharedCounters": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
    },
    "resource_v1beta2.AllocatedDeviceStatus": {
        "conditions": ("map", ("type",), "", (), ""),
    },
    "resource_v1beta2.AllocationResult": {
        "nodeSelector": ("", (), "atomic", (), ""),
    },
    "resource_v1beta2.CapacityRequestPolicy": {
        "validValues": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.Device": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "consumesCounters": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "taints": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceAllocationConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceAllocationResult": {
        "config": ("atomic", (), "", (), ""),
        "results": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceAttribute": {
        "bools": ("atomic", (), "", (), ""),
        "ints": ("atomic", (), "", (), ""),
        "strings": ("atomic", (), "", (), ""),
        "versions": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceClaim": {
        "config": ("atomic", (), "", (), ""),
        "constraints": ("atomic", (), "", (), ""),
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceClaimConfiguration": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceClassSpec": {
        "config": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceConstraint": {
        "requests": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceCounterConsumption": {
        "compatibilityGroups": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceRequest": {
        "firstAvailable": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceRequestAllocationResult": {
        "bindingConditions": ("atomic", (), "", (), ""),
        "bindingFailureConditions": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceSubRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.DeviceTaintRuleStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "resource_v1beta2.ExactDeviceRequest": {
        "derivedAttributes": ("atomic", (), "", (), ""),
        "selectors": ("atomic", (), "", (), ""),
        "tolerations": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.NetworkDeviceData": {
        "ips": ("atomic", (), "", (), ""),
    },
    "resource_v1beta2.ResourceClaimStatus": {
        "devices": ("map", ("driver", "device", "pool", "shareID"), "", (), ""),
        "reservedFor": ("map", ("uid",), "", ("merge",), "uid"),
    },
    "resource_v1beta2.ResourceSliceSpec": {
        "devices": ("atomic", (), "", (), ""),
        "nodeSelector": ("", (), "atomic", (), ""),
        "sharedCounters": ("atomic", (), "", (), ""),
        "skipNodeOperations": ("set", (), "", (), ""),
    },
    "scheduling_v1alpha3.WorkloadPodGroupSchedulingConstraints": {
        "topology": ("atomic", (), "", (), ""),
    },
    "storage_v1.CSIDriverSpec": {
        "tokenRequests": ("atomic", (), "", (), ""),
        "volumeLifecycleModes": ("set", (), "", (), ""),
    },
    "storage_v1.CSINodeDriver": {
        "topologyKeys": ("atomic", (), "", (), ""),
    },
    "storage_v1.CSINodeSpec": {
        "drivers": ("map", ("name",), "", ("merge",), "name"),
    },
    "storage_v1.CSINodeStatus": {
        "storageHealth": ("map", ("name",), "", ("merge",), "name"),
    },
    "storage_v1.CSIStorageCapacity": {
        "nodeTopology": ("", (), "atomic", (), ""),
    },
    "storage_v1.StorageClass": {
        "allowedTopologies": ("atomic", (), "", (), ""),
        "mountOptions": ("atomic", (), "", (), ""),
    },
    "storage_v1.StorageHealth": {
        "healthConditions": ("atomic", (), "", (), ""),
    },
    "storagemigration_v1.StorageVersionMigrationStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
    "storagemigration_v1beta1.StorageVersionMigrationStatus": {
        "conditions": ("map", ("type",), "", ("merge",), "type"),
    },
}
