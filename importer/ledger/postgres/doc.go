// Package postgres keeps a ledger in a schema of a PostgreSQL database. It is a driver
// for the statements of package ledger, which makes every decision; so a ledger here
// promises what one in a file does, and passes the same suite (ledgertest).
//
// What is different:
//
//   - The lock is part of Open: a session-level advisory lock of the one connection that
//     writes. It ends with the connection, and the connection is never replaced; so a
//     process that has lost the lock cannot write.
//   - An Append returns when the COMMIT was answered, with synchronous_commit on. The
//     writes of a transaction go to the server in one pipeline with its next question or
//     its COMMIT. Any error of the connection stops the ledger (ledger.ErrStopped), also
//     when a COMMIT was not answered: whether that was recorded, the next Open finds out.
//   - The row of the table counter is locked in every transaction, so transactions that
//     write follow each other whatever holds the lock.
//   - The server's checksums are its own matter, and so are bytes of removed data in its
//     write-ahead log and its backups.
//   - The server's clock is not used for the ledger. Times are those of the process, as in a
//     file. A Limiter, which is no part of the ledger, goes by the server's clock.
//
// No error, and no Address, has the user, the password or the url.
package postgres
