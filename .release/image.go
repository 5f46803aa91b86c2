package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the user and group of the program in an image: nobody of the machine.
const user = "65532:65532"

// images makes an OCI archive for each Linux platform: the program, the certificates
// of public authorities, and nothing else. The program has its own timezones.
func images(b *built) ([]file, error) {
	var made []file
	for _, p := range b.programs {
		if p.goos != "linux" {
			continue
		}
		image, err := imageOf(b, p)
		if err != nil {
			return nil, err
		}
		data, err := archived(image, "claimsheet:"+b.version, b.time)
		if err != nil {
			return nil, err
		}
		made = append(made, file{name: "claimsheet_" + b.version + "_linux_" + p.goarch + ".oci.tar", data: data})
	}
	return made, nil
}

func imageOf(b *built, p programOf) (v1.Image, error) {
	data, err := tarred([]file{
		{"claimsheet", p.binary, 0o755},
		{"etc/", nil, 0o755},
		{"etc/group", []byte("claimsheet:x:65532:\n"), 0o644},
		{"etc/passwd", []byte("claimsheet:x:65532:65532::/work:/nologin\n"), 0o644},
		{"etc/ssl/", nil, 0o755},
		{"etc/ssl/certs/", nil, 0o755},
		{"etc/ssl/certs/ca-certificates.crt", authorities(), 0o644},
		{"tmp/", nil, 0o1777},
		{"work/", nil, 0o1777},
	}, b.time)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: b.time}, CreatedBy: "claimsheet/release"}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.goos, p.goarch, v1.Time{Time: b.time}
	config.Config = v1.Config{Entrypoint: []string{"/claimsheet"}, User: user, WorkingDir: "/work", Env: []string{"HOME=/work", "TMPDIR=/tmp"},
		Labels: map[string]string{"org.opencontainers.image.title": "claimsheet", "org.opencontainers.image.version": b.version,
			"org.opencontainers.image.revision": b.commit, "org.opencontainers.image.licenses": "Apache-2.0"}}
	return mutate.ConfigFile(image, config)
}

// authorities returns the certificates of public authorities, as the pinned module has
// them. Those that are trusted only in part are left out: a file cannot say so.
func authorities() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a Buffer takes everything
		}
	}
	return out.Bytes()
}

// archived packs an image as an OCI layout with a name that docker and podman load it
// under.
func archived(image v1.Image, name string, at time.Time) ([]byte, error) {
	folder, err := os.MkdirTemp("", "claimsheet-image-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return nil, err
	}
	if err := path.AppendImage(image, layout.WithAnnotations(map[string]string{"io.containerd.image.name": "docker.io/library/" + name, "org.opencontainers.image.ref.name": name})); err != nil {
		return nil, err
	}
	var list []file
	err = fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		list = append(list, file{name, data, 0o644})
		return err
	})
	if err != nil {
		return nil, err
	}
	return tarred(list, at)
}
