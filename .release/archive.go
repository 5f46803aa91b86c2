package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
)

// archives makes a .tar.gz for each platform, a .zip for Windows.
func archives(b *built) ([]file, error) {
	var made []file
	for _, p := range b.programs {
		folder := "claimsheet_" + b.version + "_" + p.goos + "_" + p.goarch
		files := []file{{p.name(), p.binary, 0o755}, {"man/claimsheet.1", b.man, 0o644}}
		files = append(files, b.texts...)
		for shell, data := range b.shells {
			files = append(files, file{"completions/" + completionName[shell], data, 0o644})
		}
		slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
		for i := range files {
			files[i].name = path.Join(folder, files[i].name)
		}
		name, pack := folder+".tar.gz", tarGzip
		if p.goos == "windows" {
			name, pack = folder+".zip", zipped
		}
		data, err := pack(files, b.time)
		if err != nil {
			return nil, err
		}
		made = append(made, file{name: name, data: data})
	}
	return made, nil
}

// completionName is the file that each shell looks for.
var completionName = map[string]string{"bash": "claimsheet.bash", "zsh": "_claimsheet", "fish": "claimsheet.fish", "powershell": "claimsheet.ps1"}

// tarred makes a tar archive. A file whose name ends with a slash is a folder.
func tarred(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

func tarGzip(files []file, at time.Time) ([]byte, error) {
	data, err := tarred(files, at)
	if err != nil {
		return nil, err
	}
	return gzipped(data)
}

// gzipped packs without a name and a time.
func gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(data)
		err = errors.Join(err, w.Close())
	}
	return out.Bytes(), err
}

func zipped(files []file, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = entry.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}
