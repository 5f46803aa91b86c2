package ledger_test

import (
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// deed is something that SQLite did to a file.
type deed struct {
	kind deedKind
	file string // its name in the folder
	at   int64  // of a write
	data []byte // of a write
	size int64  // of a cut
}

type deedKind string

const (
	wrote   deedKind = "write"
	cut     deedKind = "cut"
	synced  deedKind = "sync"
	deleted deedKind = "delete" // with its name's disappearance synced
)

// recorder notes what SQLite does to the files of one folder, in order. It
// stands between SQLite and its own access to the system's files, which does
// the work as always.
type recorder struct {
	folder string

	mu    sync.Mutex
	deeds []deed
}

func (r *recorder) add(d deed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deeds = append(r.deeds, d)
}

// far is how many deeds there are.
func (r *recorder) far() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.deeds)
}

// syncs is how often a file was synced.
func (r *recorder) syncs(file string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.deeds {
		if d.kind == synced && d.file == file {
			n++
		}
	}
	return n
}

// watch is what all recorders share.
var watch struct {
	mu        sync.Mutex
	recorders []*recorder
	methods   map[uintptr]uintptr // SQLite's table of file methods → the table that records
	files     map[uintptr]watched // open files
	vfs       sqlite3.Tsqlite3_vfs
}

// watched is an open file that is recorded.
type watched struct {
	*recorder
	name    string
	methods sqlite3.Tsqlite3_io_methods
}

// record begins to record a folder.
func record(folder string) *recorder {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	r := &recorder{folder: folder}
	watch.recorders = append(watch.recorders, r)
	return r
}

// init puts the recorder in SQLite's way before anything is opened.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	watch.methods, watch.files = map[uintptr]uintptr{}, map[uintptr]watched{}
	vfs := (*sqlite3.Tsqlite3_vfs)(pointer(sqlite3.Xsqlite3_vfs_find(tls, 0)))
	watch.vfs = *vfs
	vfs.FxOpen, vfs.FxDelete = address(openRecorded), address(deleteRecorded)
}

// The signatures of SQLite's functions that the recorder stands before.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// address is a function as SQLite's tables hold it.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the function at an address of SQLite's tables.
func function[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&at)) }

// pointer is an address in SQLite's own memory, which Go does not move.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

func recorderOf(name uintptr) (r *recorder, file string) {
	if name == 0 {
		return nil, ""
	}
	path := libc.GoString(name)
	watch.mu.Lock()
	defer watch.mu.Unlock()
	for _, r := range watch.recorders {
		if filepath.Dir(path) == r.folder && !strings.HasSuffix(path, "-shm") {
			return r, filepath.Base(path)
		}
	}
	return nil, ""
}

func openRecorded(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
	rc := function[openFunc](watch.vfs.FxOpen)(tls, vfs, name, file, flags, out)
	r, base := recorderOf(name)
	if rc != sqlite3.SQLITE_OK || r == nil {
		return rc
	}
	watch.mu.Lock()
	defer watch.mu.Unlock()
	f := (*sqlite3.Tsqlite3_file)(pointer(file))
	own := *(*sqlite3.Tsqlite3_io_methods)(pointer(f.FpMethods))
	watch.files[file] = watched{r, base, own}
	table, known := watch.methods[f.FpMethods]
	if !known {
		table = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(own)))
		with := own
		with.FxWrite, with.FxTruncate, with.FxSync = address(writeRecorded), address(truncateRecorded), address(syncRecorded)
		*(*sqlite3.Tsqlite3_io_methods)(pointer(table)) = with
		watch.methods[f.FpMethods] = table
	}
	f.FpMethods = table
	return rc
}

func watchedFile(file uintptr) watched {
	watch.mu.Lock()
	defer watch.mu.Unlock()
	return watch.files[file]
}

func writeRecorded(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	f := watchedFile(file)
	f.add(deed{kind: wrote, file: f.name, at: at, data: append([]byte(nil), unsafe.Slice((*byte)(pointer(data)), n)...)})
	return function[writeFunc](f.methods.FxWrite)(tls, file, data, n, at)
}

func truncateRecorded(tls *libc.TLS, file uintptr, size int64) int32 {
	f := watchedFile(file)
	f.add(deed{kind: cut, file: f.name, size: size})
	return function[truncateFunc](f.methods.FxTruncate)(tls, file, size)
}

// syncRecorded notes a sync when it is over: until then nothing is promised.
func syncRecorded(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := watchedFile(file)
	rc := function[syncFunc](f.methods.FxSync)(tls, file, flags)
	f.add(deed{kind: synced, file: f.name})
	return rc
}

func deleteRecorded(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32 {
	rc := function[deleteFunc](watch.vfs.FxDelete)(tls, vfs, name, syncFolder)
	if r, base := recorderOf(name); r != nil && rc == sqlite3.SQLITE_OK {
		r.add(deed{kind: deleted, file: base})
	}
	return rc
}
