package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// configCase is a folder of files, which of them are loaded, and what is laid over them.
type configCase struct {
	Files     map[string]string `json:"files"`
	Explicit  string            `json:"explicit"`
	Listed    []string          `json:"listed"`
	Overrides struct {
		Context   string            `json:"context"`
		Cluster   string            `json:"cluster"`
		User      string            `json:"user"`
		Namespace string            `json:"namespace"`
		Timeout   string            `json:"timeout"`
		Info      map[string]string `json:"info"`
	} `json:"overrides"`
}

func (given configCase) rules(folder string) *clientcmd.ClientConfigLoadingRules {
	rules := &clientcmd.ClientConfigLoadingRules{}
	if given.Explicit != "" {
		rules.ExplicitPath = filepath.Join(folder, given.Explicit)
	}
	for _, name := range given.Listed {
		rules.Precedence = append(rules.Precedence, filepath.Join(folder, name))
	}
	return rules
}

func (given configCase) overrides() *clientcmd.ConfigOverrides {
	info := given.Overrides.Info
	made := &clientcmd.ConfigOverrides{CurrentContext: given.Overrides.Context, Timeout: given.Overrides.Timeout}
	made.Context.Cluster = given.Overrides.Cluster
	made.Context.AuthInfo = given.Overrides.User
	made.Context.Namespace = given.Overrides.Namespace
	made.ClusterInfo.Server = info["server"]
	made.ClusterInfo.TLSServerName = info["tls-server-name"]
	made.ClusterInfo.InsecureSkipTLSVerify = info["insecure"] == "true"
	made.ClusterInfo.CertificateAuthority = info["certificate-authority"]
	made.ClusterInfo.ProxyURL = info["proxy-url"]
	made.ClusterDefaults.Server = info["default-server"]
	made.AuthInfo.Token = info["token"]
	made.AuthInfo.Username = info["username"]
	made.AuthInfo.Password = info["password"]
	made.AuthInfo.Impersonate = info["as"]
	return made
}

func (given configCase) in(use func(folder string) (any, error)) (any, error) {
	folder, err := os.MkdirTemp("", "golden")
	if err != nil {
		fatal(err)
	}
	defer os.RemoveAll(folder)
	for name, text := range given.Files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			fatal(err)
		}
	}
	value, err := use(folder)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		fatal(err)
	}
	return json.RawMessage(strings.ReplaceAll(string(text), folder, "FOLDER")), nil
}

func init() {
	answers("kubeconfig.load", func(given configCase) (any, error) {
		return given.in(func(folder string) (any, error) {
			found, err := given.rules(folder).Load()
			if err != nil {
				return nil, err
			}
			return described(found), nil
		})
	})
	answers("kubeconfig.check", func(given configCase) (any, error) {
		return given.in(func(folder string) (any, error) {
			found, err := given.rules(folder).Load()
			if err != nil {
				return nil, err
			}
			return nil, clientcmd.Validate(*found)
		})
	})
	answers("kubeconfig.use", func(given configCase) (any, error) {
		return given.in(func(folder string) (any, error) {
			found, err := given.rules(folder).Load()
			if err != nil {
				return nil, err
			}
			chosen := clientcmd.NewNonInteractiveClientConfig(*found, "", given.overrides(), nil)
			config, err := chosen.ClientConfig()
			if err != nil {
				return nil, err
			}
			namespace, _, err := chosen.Namespace()
			if err != nil {
				return nil, err
			}
			return used(config, namespace), nil
		})
	})
	answers("kubeconfig.minify", func(given configCase) (any, error) {
		return given.in(func(folder string) (any, error) {
			found, err := given.rules(folder).Load()
			if err != nil {
				return nil, err
			}
			if err := clientcmdapi.MinifyConfig(found); err != nil {
				return nil, err
			}
			return described(found), nil
		})
	})
}

func described(config *clientcmdapi.Config) any {
	clusters, users, contexts := map[string]any{}, map[string]any{}, map[string]any{}
	for name, each := range config.Clusters {
		clusters[name] = map[string]any{
			"server": each.Server, "ca": each.CertificateAuthority, "caData": string(each.CertificateAuthorityData),
			"insecure": each.InsecureSkipTLSVerify, "tlsServerName": each.TLSServerName, "proxy": each.ProxyURL,
		}
	}
	for name, each := range config.AuthInfos {
		command := ""
		if each.Exec != nil {
			command = each.Exec.Command
		}
		users[name] = map[string]any{
			"token": each.Token, "tokenFile": each.TokenFile, "username": each.Username, "password": each.Password,
			"certificate": each.ClientCertificate, "key": each.ClientKey, "as": each.Impersonate,
			"groups": texts(each.ImpersonateGroups), "command": command,
		}
	}
	for name, each := range config.Contexts {
		contexts[name] = map[string]any{"cluster": each.Cluster, "user": each.AuthInfo, "namespace": each.Namespace}
	}
	return map[string]any{
		"current": config.CurrentContext, "clusters": clusters, "users": users, "contexts": contexts,
	}
}

func used(config *rest.Config, namespace string) any {
	return map[string]any{
		"server": config.Host, "namespace": namespace, "token": config.BearerToken,
		"tokenFile": config.BearerTokenFile, "username": config.Username, "password": config.Password,
		"ca": config.CAFile, "caData": string(config.CAData), "insecure": config.Insecure,
		"tlsServerName": config.ServerName, "certificate": config.CertFile, "key": config.KeyFile,
		"as": config.Impersonate.UserName, "groups": texts(config.Impersonate.Groups),
		"timeout": config.Timeout.Milliseconds(), "proxy": config.Proxy != nil,
		"compression": !config.DisableCompression,
	}
}

func texts(given []string) []string {
	if given == nil {
		return []string{}
	}
	return given
}

func sorted(given []string) []string {
	sort.Strings(given)
	return given
}
