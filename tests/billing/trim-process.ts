/**
 * A process that archives and deletes old calls, and is killed at its first write: `bun trim-process.ts DIALECT PLACE
 * FOLDER NOW before|after`, `before` or `after` the commit. It ends by itself where nothing is left to write.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuditLog } from '../../src/audit'
import { trimCalls } from '../../src/billing/trim'
import { systemClock } from '../../src/kernel/clock'
import { openSigningKey } from '../../src/kernel/signing'
import { openPostgres, openSqlite, type Store } from '../../src/kernel/store'

const [dialect, place, folder, now, moment] = process.argv.slice(2) as [string, string, string, string, string]
const onDiskFailure = (error: unknown) => {
  throw error
}
const opened =
  dialect === 'postgres' ? openPostgres({ url: place, maxConnections: 2 }) : openSqlite({ path: place, onDiskFailure })
const die = () => process.kill(process.pid, 'SIGKILL')
const write: Store['write'] = async (unit) => {
  const value = await opened.write(async (tx) => {
    const made = await unit(tx)
    if (moment === 'before') die()
    return made
  })
  die()
  return value
}
const clock = { ...systemClock, now: () => Number(now) }
const secrets = JSON.parse(readFileSync(join(folder, 'secrets.json'), 'utf8'))
const deps = {
  clock,
  store: { ...opened, write },
  audit: createAuditLog({ clock }),
  auditKey: openSigningKey(secrets.audit_key),
  auditFolder: join(folder, 'audit'),
  keepDays: 90,
}
await trimCalls(deps, new AbortController().signal)
await opened.close()
