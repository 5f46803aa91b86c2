// Package postgres keeps a ledger in a schema of a PostgreSQL database. Package ledger has the
// statements and makes every decision; so a ledger here promises what one in a file does, and
// passes the same suite (ledgertest). This package has the connections, the schema and the locks.
//
// What is different:
//
//   - The lock is part of Open: a session-level advisory lock of the one connection that
//     writes. It ends with the connection, and the connection is never replaced; so a
//     process that has lost the lock cannot write.
//   - An Append returns when the COMMIT was answered, with synchronous_commit on. Any error of the connection stops the ledger (ledger.ErrStopped), also
//     when a COMMIT was not answered: whether that was recorded, the next Open finds out.
//   - What several processes lock (ledger.Ledger.Lock) are advisory locks of the connection that
//     writes. A process that has lost them cannot write either.
//   - The server's checksums are its own matter, and so are bytes of removed data in its
//     write-ahead log and its backups.
//   - The server's clock is not used for the ledger. Times are those of the process, as in a
//     file. A Limiter, which is no part of the ledger, goes by the server's clock.
//
// No error, and no Address, has the user, the password or the url.
package postgres
