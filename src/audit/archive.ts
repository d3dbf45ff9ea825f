import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Clock, iso } from '../kernel/clock'
import { newRequestId } from '../kernel/ids'
import type { SigningKey } from '../kernel/signing'
import type { Store, Tx } from '../kernel/store'
import type { End } from './chain'
import { signCheckpoint } from './checkpoints'
import { eventsBetween, written } from './export'
import { baseOf, headOf, pageOfChain, setBase } from './repository'
import { type ChainScope, TRIMMED, type Trimmed } from './schema'
import type { AuditLog } from './service'

export type ArchiveDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  auditKey: SigningKey
  /** The folder of the checkpoints; archives go below it. */
  auditFolder: string
}

/**
 * Writes the events of a chain after its base and up to `seq` to a file, beside what `calls` says of them and a signed
 * checkpoint of the last one, and makes that the base. Only now may rows of calls be deleted. Can be repeated.
 */
export async function archiveEvents(
  { store, clock, audit, auditKey, auditFolder }: ArchiveDeps,
  scope: ChainScope,
  seq: number,
  calls: (last: End) => AsyncIterable<string>,
): Promise<void> {
  const base = await baseOf(store.read, scope)
  const [last] = await pageOfChain(store.read, { scope, above: seq - 1, upTo: seq, limit: 1 })
  const place = join(auditFolder, 'archive')
  await mkdir(place, { recursive: true, mode: 0o700 })
  const name = `${scope.replace(':', '-')}.${base.seq + 1}-${seq}`
  const pages = eventsBetween(store.read, {
    scope,
    above: base.seq,
    upTo: seq,
    filters: [],
    signal: new AbortController().signal,
  })
  const files = [
    await writeArchive(place, `${name}.events.csv.gz`, written(pages, 'csv')),
    await writeArchive(place, `${name}.calls.csv.gz`, calls(last!)),
  ]
  const checkpoint = signCheckpoint(auditKey, { scope, seq, hash: last!.hash }, iso(clock.now()))
  await writeSynced(join(place, `${name}.checkpoint.json`), [`${JSON.stringify(checkpoint)}\n`])
  await store.write(async (tx: Tx) => {
    const trimmed: Trimmed = { chain: scope, seq, hash: last!.hash, files }
    const entityType = scope.startsWith('org:') ? 'organization' : 'user'
    await audit.recordUnattended(
      tx,
      { scope: 'server', requestId: newRequestId() },
      { action: TRIMMED, entityType, entityId: scope.slice(scope.indexOf(':') + 1), output: { trimmed } },
    )
    const [head] = await headOf(tx, { scope: 'server' })
    await setBase(tx, { scope, seq, hash: last!.hash, at: last!.at, event_seq: head!.seq })
  })
}

/** Writes text to a compressed file, whole or not at all. */
async function writeArchive(folder: string, name: string, text: AsyncIterable<string>) {
  const path = join(folder, name)
  await writeSynced(path, text, [createGzip()])
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of createReadStream(path)) hash.update(piece)
  return { name, sha256: hash.digest('hex') }
}

async function writeSynced(
  path: string,
  text: Iterable<string> | AsyncIterable<string>,
  through: NodeJS.ReadWriteStream[] = [],
) {
  const draft = `${path}.new`
  await pipeline([Readable.from(text), ...through, createWriteStream(draft, { mode: 0o600 })])
  const file = await open(draft, 'r')
  await file.sync().finally(() => file.close())
  await rename(draft, path)
}
