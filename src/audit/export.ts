import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Clock, iso } from '../kernel/clock'
import { CSV_BEGIN, type CsvCell, csvHeaders, csvLines } from '../kernel/csv'
import { notFound } from '../kernel/errors'
import { newRequestId } from '../kernel/ids'
import { nextTurn } from '../kernel/loop'
import { isSignedBy, type SigningKey } from '../kernel/signing'
import type { Reader, Store, Tx } from '../kernel/store'
import { type End, present } from './chain'
import { signCheckpoint } from './checkpoints'
import { EXPORT_COLUMNS, filtersOf, seqRangeOf } from './list'
import { baseOf, headOf, pageOfChain, type Slice, selectSlice, setBase } from './repository'
import { type AuditFilters, type ChainScope, type ExportSignature, TRIMMED, type Trimmed } from './schema'
import type { AuditLog } from './service'
import type { AuditEventRow } from './table'

/** Number of signatures kept in memory. The oldest is dropped first. */
const MAX = 100

type Claim = Omit<ExportSignature, 'signature'>

/** The signed text as canonical JSON (RFC 8785). The members are listed explicitly, so that only these are signed. */
const signedText = ({ bytes, object, public_key, scope, sha256, signed_at }: Claim): string =>
  JSON.stringify({ bytes, object, public_key, scope, sha256, signed_at })

/** Whether the signature matches the public key in it. The caller decides whether to trust that key. */
export const isGenuine = (signature: ExportSignature): boolean =>
  isSignedBy(signature.public_key, signedText(signature), signature.signature)

/** Headers of each export format, so that browsers download the file instead of showing it. */
export const EXPORT_HEADERS = {
  csv: csvHeaders('audit'),
  jsonl: {
    ...csvHeaders('audit'),
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.jsonl"',
  },
} as const

/** Number of events read per step, before filtering. */
const WINDOW = 1_000

/**
 * Pages of an export, newest event first, without events written after the start. Summaries are the text that was
 * hashed, so an unfiltered export can be verified without this server.
 */
export async function* exportRows(
  reader: Reader,
  { scope, filters, signal }: { scope: ChainScope; filters: AuditFilters; signal: AbortSignal },
): AsyncGenerator<AuditEventRow[]> {
  const { floor, ceiling, base } = await seqRangeOf(reader, scope, filters)
  // All events below the base are in the archive.
  const above = Math.max(floor, base.seq)
  yield* eventsBetween(reader, { scope, above, upTo: ceiling, filters: filtersOf(reader, filters), signal })
}

/** Events of a chain with `above < seq <= upTo`, newest first, in pages. */
async function* eventsBetween(
  reader: Reader,
  { scope, above: floor, upTo: ceiling, filters, signal }: Omit<Slice, 'limit'> & { signal: AbortSignal },
): AsyncGenerator<AuditEventRow[]> {
  for (let upTo = ceiling; upTo > floor && !signal.aborted; upTo -= WINDOW) {
    const above = Math.max(floor, upTo - WINDOW)
    const rows = await selectSlice(reader, { scope, above, upTo, limit: WINDOW, filters })
    yield rows
    await nextTurn()
  }
}

/** The export as text: CSV with the columns of docs/api.md 19, or one JSON event per line. */
export async function* written(pages: AsyncIterable<AuditEventRow[]>, format: 'csv' | 'jsonl'): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_BEGIN + csvLines([EXPORT_COLUMNS])
  for await (const rows of pages)
    if (rows.length) yield format === 'csv' ? csvLines(rows.map(cellsOf)) : rows.map(lineOf).join('')
}

const lineOf = (row: AuditEventRow): string => `${JSON.stringify(present(row))}\n`

const cellsOf = (row: AuditEventRow): CsvCell[] => [
  row.id,
  iso(row.at),
  row.action,
  row.entity_type,
  row.entity_id,
  row.user_id,
  row.org_id,
  row.api_key_id,
  row.request_id,
  row.status,
  row.input,
  row.output,
  row.prev_hash,
  row.hash,
]

/**
 * Signatures of exported files (docs/operating.md 2.17). Only files that this server itself streams are signed, so
 * nobody can get a signature for their own file.
 */
export function createExportSignatures({ clock, key }: { clock: Clock; key: SigningKey }) {
  const signatures = new Map<string, ExportSignature>()

  function sign(requestId: string, facts: Pick<Claim, 'scope' | 'sha256' | 'bytes'>): void {
    const claim: Claim = {
      object: 'audit_export_signature',
      ...facts,
      signed_at: iso(clock.now()),
      public_key: key.publicKey,
    }
    signatures.set(requestId, { ...claim, signature: key.sign(signedText(claim)) })
    for (const oldest of signatures.keys()) if (signatures.size > MAX) signatures.delete(oldest)
  }

  return {
    /** Passes the pieces through, and signs the file after the last one. */
    async *around(requestId: string, scope: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
      const hash = new Bun.CryptoHasher('sha256')
      let bytes = 0
      for await (const piece of pieces) {
        hash.update(piece)
        bytes += Buffer.byteLength(piece)
        yield piece
      }
      sign(requestId, { scope, sha256: hash.digest('hex'), bytes })
    },

    /** Throws 404 when the request was not a complete export, or when 100 newer ones have displaced its signature. */
    of(requestId: string): ExportSignature {
      const signature = signatures.get(requestId)
      if (!signature) throw notFound('signature')
      return { ...signature }
    },
  }
}

export type ArchiveDeps = {
  store: Store
  clock: Clock
  audit: AuditLog
  auditKey: SigningKey
  /** The folder of the checkpoints. Archives are stored below it. */
  auditFolder: string
}

/**
 * Writes the events of a chain after its base and up to `seq` to a file, with the call data of `calls` and a signed
 * checkpoint of the last event. Then makes that event the base, after which rows of calls may be deleted. Can be
 * repeated.
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

/** Writes text to a compressed file atomically. */
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
