import type { Reader } from '../kernel/store'
import { GENESIS, hashOf } from './chain'
import { headOf, pageOfChains, pageOfHeads } from './repository'
import type { ChainScope } from './schema'
import type { AuditEventRow, AuditHeadRow } from './table'

const PAGE = 1_000
const MAX_VIOLATIONS = 100

type End = { seq: number; hash: string; at: number }
const START: End = { seq: 0, hash: GENESIS, at: 0 }

/**
 * Recomputes every chain, a page at a time so that a live server keeps answering, and lists what does
 * not hold: a changed, missing, inserted or moved event, or a chain that ends elsewhere than its head
 * says (I20). Empty when the record is sound.
 */
export async function verifyChains(reader: Reader): Promise<string[]> {
  const violations: string[] = []
  // Heads first: events that arrive while this reads stand beyond them and are checked all the same.
  const unreached = new Map<string, AuditHeadRow>()
  for await (const head of headsOf(reader)) unreached.set(head.scope, head)

  let scope: ChainScope | null = null
  let end = START
  for await (const row of eventsOf(reader)) {
    if (row.scope !== scope) {
      if (scope) violations.push(...(await overrun(reader, scope, end)))
      scope = row.scope
      end = START
    }
    violations.push(...faultsOf(row, end))
    const head = unreached.get(row.scope)
    if (head?.seq === row.seq && head.hash === row.hash) unreached.delete(row.scope)
    end = { seq: row.seq, hash: row.hash, at: row.at }
    if (violations.length >= MAX_VIOLATIONS) return [...violations.slice(0, MAX_VIOLATIONS), 'audit: and more']
  }
  if (scope) violations.push(...(await overrun(reader, scope, end)))
  for (const { scope: chain, seq } of unreached.values()) {
    violations.push(`audit ${chain}: its head says #${seq} with a hash that no event has there`)
  }
  return violations
}

/** Events past the head were not written by `record`, which moves the head in the same unit. */
async function overrun(reader: Reader, scope: ChainScope, end: End): Promise<string[]> {
  const [head] = await headOf(reader, { scope })
  return head && head.seq >= end.seq ? [] : [`audit ${scope} #${end.seq}: stands past the head of its chain`]
}

/** What is wrong with one event, given the one before it. */
function faultsOf(row: AuditEventRow, before: End): string[] {
  const where = `audit ${row.scope} #${row.seq}`
  const faults: string[] = []
  if (row.seq !== before.seq + 1) faults.push(`${where}: follows #${before.seq}`)
  if (row.prev_hash !== before.hash) faults.push(`${where}: prevHash is not the hash before it`)
  if (row.at < before.at) faults.push(`${where}: is older than the event before it`)
  if (row.hash !== hashOf(row)) faults.push(`${where}: its hash does not match its content`)
  if (!copiesHold(row)) faults.push(`${where}: its mode or status column is not what its summaries say`)
  return faults
}

/** The columns to filter by repeat what was hashed; only a truncated summary may lack it. */
function copiesHold(row: AuditEventRow): boolean {
  const [input, output] = [membersOf(row.input), membersOf(row.output)]
  const mode = input.mode ?? (input.truncated ? row.mode : null)
  const status = output.status ?? (output.truncated ? row.status : null)
  return mode === row.mode && status === row.status
}

function membersOf(summary: string): Record<string, unknown> {
  try {
    return JSON.parse(summary)
  } catch {
    return {}
  }
}

async function* eventsOf(reader: Reader): AsyncGenerator<AuditEventRow> {
  for (let last = { scope: '', seq: 0 }; ; ) {
    const rows = await pageOfChains(reader, { ...last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = { scope: end.scope, seq: end.seq }
    await breathe()
  }
}

async function* headsOf(reader: Reader): AsyncGenerator<AuditHeadRow> {
  for (let last = ''; ; ) {
    const rows = await pageOfHeads(reader, { scope: last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = end.scope
    await breathe()
  }
}

/** Lets requests in between two pages. */
const breathe = () => new Promise<void>((resolve) => setImmediate(resolve))
