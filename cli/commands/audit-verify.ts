import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import Papa from 'papaparse'
import { cellsOfEvent, EXPORT_COLUMNS, isGenuine, type Proof, verifyExport } from '../../src/audit/proof'
import { type AuditEvent, type ChainCheck, Checkpoint, ExportSignature } from '../../src/audit/schema'
import { CSV_BEGIN } from '../../src/kernel/csv'
import { checker } from '../../src/kernel/schema'
import { clean } from '../../src/kernel/text'
import { columnsOf, commandsOf, defined } from '../command'
import { CheckFailed, expectData, usageFailure } from '../failure'
import { readTextFile } from '../files'
import { jsonIn } from '../output/json'
import type { Shell } from '../shell'
import { fromHere } from '../transport'
import { optional, text, whole } from '../words'

const columns = columnsOf`ok HOLDS flag, scope CHAIN, sha256 SHA-256, signed_at SIGNED-AT time, public_key KEY`

const complain = (shell: Shell, what: string) => shell.io.err(`${shell.paint('bad', 'broken:')} ${clean(what)}`)

const chainColumns = columnsOf`
  scope CHAIN, ok HOLDS flag, events_checked EVENTS number, head_seq HEAD number, head_hash HEAD-HASH,
  checkpoint_seq SIGNED number`

const proofColumns = columnsOf`
  ok HOLDS flag, events EVENTS number, complete FROM-THE-FIRST flag, oldest_event_id OLDEST, newest_event_id NEWEST,
  checkpoint.seq SIGNED number, checkpoint.signed_at SIGNED-AT time, events_after_checkpoint NOT-YET-SIGNED number`

const command = commandsOf('audit', { apis: ['operator'] })

export const verifyAudit = command`verify (exits 3 9): Verify a chain, or an exported chain without a server
  $ audit verify --export audit.csv --checkpoint checkpoint.json
  $ audit verify acme
  $ audit verify acme --head 1182:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 --json`({
  about: `With --export and --checkpoint it needs no server and no database. Exit 0 proves:

  - every event in the file is exactly what was hashed when it was recorded;
  - no event was changed, added or moved, and none is missing between two others;
  - the file contains the event that the checkpoint names, at its position;
  - the holder of the checkpoint's key signed it at the time it states.

So everything up to that event is as it was then, if the key is the server's. Use
--public-key with the key that audit head --json shows, or store checkpoints yourself
from the beginning. Exit 0 does not prove:

  - events newer than the checkpoint: they form a valid chain, but are not signed yet;
  - events before the first one in the file, if FROM-THE-FIRST is no.

An export with filters other than dates leaves out events and fails this check.

With --export and --signature it proves that the holder of the signature's key wrote
exactly this file. audit export --sign creates both.

Without --export it checks the chain of one owner in the database. It compares the
chain with its head, its newest checkpoint, and an event stored from audit head. If anything is broken
it exits 9, and shows the first broken event with its neighbours.`,
  columns: [...chainColumns, ...proofColumns.filter(({ field }) => field !== 'ok')],
  args: { owner: optional('owner of the chain: an org, a user, or server') },
  flags: {
    export: text('FILE', 'CSV or JSON lines from audit export or GET /audit/export'),
    signature: text('FILE', 'the signature of that file, from audit export --sign'),
    checkpoint: text('FILE', 'stored checkpoints: JSON, or one per line'),
    publicKey: text('KEY', 'the key that must have signed them; audit head --json shows it'),
    from: whole('SEQ', 'begin with this event of the chain', { min: 1, max: Number.MAX_SAFE_INTEGER }),
    head: text('SEQ:HASH', 'an event that must still be in the chain'),
  },
  async run(shell, { owner = shell.globals.org, export: file, checkpoint, signature, publicKey, from, head }) {
    if (file !== undefined) {
      if (signature) await verifySignature(shell, file, signature, publicKey)
      if (checkpoint || !signature) await verifyFile(shell, file, checkpoint, publicKey)
      return
    }
    if (checkpoint || signature || publicKey)
      throw usageFailure('--checkpoint, --signature and --public-key work only with --export FILE.')
    const query = defined({ owner: owner || undefined, from_seq: from || undefined, head: head || undefined })
    const check: ChainCheck = expectData(await (await shell.connect()).ops().audit.check.post(undefined, { query }))
    if (!shell.globals.quiet) shell.print.item(check, chainColumns)
    if (check.ok) return
    for (const fault of check.faults) complain(shell, fault)
    for (const { seq, event } of check.neighbours) shell.note(`#${seq} ${JSON.stringify(event)}`)
    throw new CheckFailed()
  },
})

async function verifyFile(shell: Shell, file: string, stored: string | undefined, publicKey: string | undefined) {
  const fix = 'add --checkpoint FILE, from GET /audit/checkpoint'
  if (!stored) throw usageFailure('Without a checkpoint, an export proves nothing.', fix)
  // One JSON value, or one per line.
  const text = await readTextFile(shell, stored)
  const lines = text.split('\n').filter((line) => line.trim())
  const found = [jsonIn(text) ?? lines.map(jsonIn)].flat()
  const checkpoints = found.filter(checker(Checkpoint).is)
  if (!found.length || checkpoints.length < found.length)
    throw usageFailure(`${stored} contains something that is not a checkpoint.`, 'use the file as the server wrote it')
  const stranger = publicKey && checkpoints.find(({ public_key }) => public_key !== publicKey)
  const proof: Proof = await verifyExport(recordsOf(pathOf(shell, file)), checkpoints)
  const reason = stranger && `a checkpoint was signed with ${stranger.public_key}`
  const verdict = reason ? { ...proof, ok: false, broken: { reason, line: null, events: [] } } : proof
  if (!shell.globals.quiet) shell.print.item({ object: 'audit_proof', ...verdict }, proofColumns)
  if (verdict.ok) return
  const { line, events, ...broken } = verdict.broken!
  complain(
    shell,
    `${line === null ? '' : `record ${line}: `}${broken.reason}${events.length ? ` (${events.join(', ')})` : ''}`,
  )
  throw new CheckFailed()
}

/** The records of an export (CSV or JSON Lines), header first. Streamed, because a file may be larger than memory. */
async function* recordsOf(path: string): AsyncGenerator<string[]> {
  if ((await Bun.file(path).slice(0, 1).text()) === '{') yield* eventsOf(path)
  else {
    const parser = createReadStream(path, 'utf8').pipe(Papa.parse(Papa.NODE_STREAM_INPUT, { skipEmptyLines: true }))
    let isFirst = true
    for await (const [first = '', ...rest] of parser as AsyncIterable<string[]>) {
      yield [isFirst ? first.replace(CSV_BEGIN, '') : first, ...rest]
      isFirst = false
    }
  }
}

async function* eventsOf(path: string): AsyncGenerator<string[]> {
  yield [...EXPORT_COLUMNS]
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    if (!line) continue
    const event = jsonIn(line)
    // A line that is not an event becomes a record without cells, which the verification rejects.
    yield event ? cellsOfEvent(event as AuditEvent) : []
  }
}

/** Checks a file against its detached signature, without a server. @throws CheckFailed 9 */
async function verifySignature(shell: Shell, file: string, stored: string, publicKey: string | undefined) {
  const signature = jsonIn(await readTextFile(shell, stored))
  if (!checker(ExportSignature).is(signature))
    throw usageFailure(`${stored} is not a signature of an export.`, 'audit export --out FILE --sign writes one')
  const hash = new Bun.CryptoHasher('sha256')
  for await (const piece of createReadStream(pathOf(shell, file))) hash.update(piece as Buffer)
  const faults = [
    isGenuine(signature) ? null : 'the signature is not valid',
    publicKey && signature.public_key !== publicKey ? `it was signed with ${signature.public_key}` : null,
    hash.digest('hex') === signature.sha256 ? null : 'the file was changed after it was signed',
  ].filter((fault) => fault !== null)
  if (!shell.globals.quiet) shell.print.item({ ...signature, ok: faults.length === 0 }, columns)
  for (const fault of faults) complain(shell, String(fault))
  if (faults.length) throw new CheckFailed()
}

function pathOf({ cwd }: Shell, word: string): string {
  const path = fromHere(cwd, word)
  if (!existsSync(path)) throw usageFailure(`There is no file ${path}.`, 'write its path from the current folder')
  return path
}
