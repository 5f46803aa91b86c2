package pages

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// vfsName is the name of SQLite's way to its files on which this package stands. It is
// the default one, except that reading a page compares its sum, and writing one notes
// it. A data source name chooses it with vfs=; the parameter numberParameter says which
// sums belong to the file.
const (
	vfsName         = "claimsheet-pages"
	numberParameter = "pages"
)

// guards are the sums in use, by their numbers in data source names. SQLite's access to
// files is one for the process, and so are they.
var guards struct {
	sync.Map // of int64 → guard
	last     atomic.Int64
}

// guard is the use of sums by the connections of one data source name.
type guard struct {
	sums  *Sums
	alone bool
}

// Guard returns the parameters of a data source name whose connections compare every
// page of the file that they read, and note every page that they write. A page that is
// not what was written is SQLITE_CORRUPT. alone says that no other process may write the
// file; otherwise nothing is compared any more as soon as one has. release is called
// when the connections are closed.
func (s *Sums) Guard(alone bool) (parameters string, release func(), err error) {
	if err := register(); err != nil {
		return "", nil, err
	}
	number := guards.last.Add(1)
	guards.Store(number, guard{s, alone})
	return fmt.Sprintf("vfs=%s&%s=%d", vfsName, numberParameter, number), func() { guards.Delete(number) }, nil
}

// The signatures of SQLite's functions that this package stands before.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	ioFunc       = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 // xRead and xWrite
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
)

// address is a function as SQLite's tables hold it.
func address[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function is the function at an address of SQLite's tables.
func function[F any](at uintptr) F { return *(*F)(unsafe.Pointer(&at)) }

// pointer is an address in SQLite's own memory, which Go does not move.
func pointer(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// bytesAt are n bytes of SQLite's own memory.
func bytesAt(at uintptr, n int32) []byte { return unsafe.Slice((*byte)(pointer(at)), n) }

// system is SQLite's default access to files.
var system struct {
	vfs  uintptr
	open openFunc
}

// parameterName is numberParameter as SQLite takes it.
var parameterName uintptr

// register makes the access of this package known to SQLite.
var register = sync.OnceValue(func() (err error) {
	tls := libc.NewTLS()
	defer tls.Close()
	system.vfs = sqlite3.Xsqlite3_vfs_find(tls, 0)
	if system.vfs == 0 {
		return errors.New("SQLite has no access to files")
	}
	with := *(*sqlite3.Tsqlite3_vfs)(pointer(system.vfs))
	system.open = function[openFunc](with.FxOpen)
	if with.FzName, err = libc.CString(vfsName); err != nil {
		return err
	}
	if parameterName, err = libc.CString(numberParameter); err != nil {
		return err
	}
	with.FxOpen, with.FpNext = address(open), 0
	vfs := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(with)))
	if vfs == 0 {
		return errors.New("there is no memory for SQLite's access to files")
	}
	*(*sqlite3.Tsqlite3_vfs)(pointer(vfs)) = with
	if rc := sqlite3.Xsqlite3_vfs_register(tls, vfs, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not take the access to its files (%d)", rc)
	}
	return nil
})

// opened is an open file with its sums, and the functions that really do the work.
type opened struct {
	guard
	read, write ioFunc
	truncate    truncateFunc
	close       closeFunc
}

// files are the open files by their addresses.
var files sync.Map // of uintptr → *opened

// tables are SQLite's tables of file functions, and those that this package puts in
// their places.
var tables struct {
	sync.Mutex
	of map[uintptr]uintptr
}

// open opens a file, and stands before it when its name has the number of sums.
func open(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	rc := system.open(tls, system.vfs, name, file, flags, out)
	if rc != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_MAIN_DB == 0 {
		return rc
	}
	value := sqlite3.Xsqlite3_uri_parameter(tls, name, parameterName)
	if value == 0 {
		return rc
	}
	number, _ := strconv.ParseInt(libc.GoString(value), 10, 64)
	g, ok := guards.Load(number)
	if !ok {
		return rc
	}
	f := (*sqlite3.Tsqlite3_file)(pointer(file))
	own := *(*sqlite3.Tsqlite3_io_methods)(pointer(f.FpMethods))
	files.Store(file, &opened{g.(guard), function[ioFunc](own.FxRead), function[ioFunc](own.FxWrite),
		function[truncateFunc](own.FxTruncate), function[closeFunc](own.FxClose)})
	tables.Lock()
	defer tables.Unlock()
	table, known := tables.of[f.FpMethods]
	if !known {
		with := own
		with.FxRead, with.FxWrite, with.FxTruncate, with.FxClose = address(readPage), address(writePage), address(truncateFile), address(closeFile)
		if table = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(with))); table == 0 {
			closeFile(tls, file)
			return sqlite3.SQLITE_NOMEM
		}
		*(*sqlite3.Tsqlite3_io_methods)(pointer(table)) = with
		if tables.of == nil {
			tables.of = map[uintptr]uintptr{}
		}
		tables.of[f.FpMethods] = table
	}
	f.FpMethods = table
	return rc
}

func fileAt(file uintptr) *opened {
	f, _ := files.Load(file)
	return f.(*opened)
}

func readPage(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	f := fileAt(file)
	rc := f.read(tls, file, data, n, at)
	if rc != sqlite3.SQLITE_OK || !f.sums.differ(bytesAt(data, n), at) || f.outdated(tls, file) {
		return rc
	}
	return sqlite3.SQLITE_CORRUPT
}

// outdated reports whether another process, which may do so, has written the file.
func (f *opened) outdated(tls *libc.TLS, file uintptr) bool {
	if f.alone {
		return false
	}
	header := tls.Alloc(headerSize)
	defer tls.Free(headerSize)
	return f.read(tls, file, header, headerSize, 0) == sqlite3.SQLITE_OK && f.sums.outdated(bytesAt(header, headerSize))
}

// writePage notes a page also when it may be written in part: then the write fails, and
// a page of which only a part is there is not what was to be written.
func writePage(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
	f := fileAt(file)
	f.sums.written(bytesAt(data, n), at)
	return f.write(tls, file, data, n, at)
}

func truncateFile(tls *libc.TLS, file uintptr, size int64) int32 {
	f := fileAt(file)
	f.sums.truncated(size)
	return f.truncate(tls, file, size)
}

func closeFile(tls *libc.TLS, file uintptr) int32 {
	f := fileAt(file)
	files.Delete(file)
	return f.close(tls, file)
}
