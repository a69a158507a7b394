// Command credentials judges a cluster's keys and certificates by Talos' own library.
//
// It reads {"bundle", "talosconfig", "kubeconfig"} (three YAML texts) as JSON from the standard input and answers with
// {"problems", "ours", "talos"}: what Talos finds wrong with them, a description of each certificate and key in them,
// and the same of a bundle that Talos generates itself. No key is ever written out.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/role"
)

type request struct {
	Bundle      string `json:"bundle"`
	Talosconfig string `json:"talosconfig"`
	Kubeconfig  string `json:"kubeconfig"`
}

type answer struct {
	Problems []string  `json:"problems"`
	Ours     described `json:"ours"`
	Talos    described `json:"talos"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "credentials:", err)
		os.Exit(1)
	}
}

func run() error {
	var request request
	if err := json.NewDecoder(os.Stdin).Decode(&request); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}

	talos, err := generated()
	if err != nil {
		return fmt.Errorf("generate a bundle: %w", err)
	}

	answer := answer{Problems: []string{}, Talos: talos}

	ours, err := judge(request, &answer.Problems)
	if err != nil {
		answer.Problems = append(answer.Problems, err.Error())
	}

	answer.Ours = ours

	return json.NewEncoder(os.Stdout).Encode(answer)
}

// judge loads all three as Talos' programs load them.
func judge(request request, problems *[]string) (described, error) {
	bundle, err := load(request.Bundle)
	if err != nil {
		return described{}, fmt.Errorf("load the bundle: %w", err)
	}

	if err = bundle.Validate(); err != nil {
		*problems = append(*problems, fmt.Sprintf("validate the bundle: %v", err))
	}

	talosClient, err := readTalosconfig(request.Talosconfig)
	if err != nil {
		return described{}, fmt.Errorf("read the talosconfig: %w", err)
	}

	if err = handshake(bundle.Certs.OS, talosClient); err != nil {
		*problems = append(*problems, fmt.Sprintf("shake hands with the talosconfig: %v", err))
	}

	kubernetesClient, err := readKubeconfig(request.Kubeconfig)
	if err != nil {
		return described{}, fmt.Errorf("read the kubeconfig: %w", err)
	}

	if err = handshake(bundle.Certs.K8s, kubernetesClient); err != nil {
		*problems = append(*problems, fmt.Sprintf("shake hands with the kubeconfig: %v", err))
	}

	return describe(bundle, talosClient.pair, kubernetesClient.pair)
}

// generated describes what Talos makes itself, its administrator's certificates included.
func generated() (described, error) {
	bundle, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_13)
	if err != nil {
		return described{}, err
	}

	administrator, err := bundle.GenerateTalosAPIClientCertificate(role.MakeSet(role.Admin))
	if err != nil {
		return described{}, err
	}

	authority, err := x509.NewCertificateAuthorityFromCertificateAndKey(bundle.Certs.K8s)
	if err != nil {
		return described{}, err
	}

	now := time.Now()

	// As Talos' own kubeconfig generator, which is not part of its library.
	pair, err := x509.NewKeyPair(authority,
		x509.Organization("system:masters"),
		x509.CommonName("admin"),
		x509.NotBefore(now),
		x509.NotAfter(now.Add(365*24*time.Hour)),
		x509.KeyUsage(kubernetesKeyUsage),
		x509.ExtKeyUsage(clientOnly),
	)
	if err != nil {
		return described{}, err
	}

	return describe(bundle, administrator, x509.NewCertificateAndKeyFromKeyPair(pair))
}
