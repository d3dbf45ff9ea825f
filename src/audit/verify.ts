import type { Reader } from '../kernel/store'
import { nextTurn } from '../kernel/turns'
import { type End, endOf, faultsOf, START } from './faults'
import { headOf, pageOfChains, pageOfHeads } from './repository'
import type { ChainScope } from './schema'
import type { AuditEventRow, AuditHeadRow } from './table'

const PAGE = 1_000
const MAX_VIOLATIONS = 100

/**
 * Recomputes every chain, in pages so that a live server keeps answering, and returns a sentence for each fault: a
 * changed, missing, inserted or moved event, or a chain that does not end at its head (I20). Empty when sound.
 */
export async function verifyChains(reader: Reader): Promise<string[]> {
  const violations: string[] = []
  // Heads are read first: events appended during the walk lie past these heads and are checked too.
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
    const where = `audit ${row.scope} #${row.seq}`
    violations.push(...faultsOf(row, end).map((fault) => `${where}: ${fault}`))
    const head = unreached.get(row.scope)
    if (head?.seq === row.seq && head.hash === row.hash) unreached.delete(row.scope)
    end = endOf(row)
    if (violations.length >= MAX_VIOLATIONS) return [...violations.slice(0, MAX_VIOLATIONS), 'audit: and more']
  }
  if (scope) violations.push(...(await overrun(reader, scope, end)))
  for (const { scope: chain, seq } of unreached.values()) {
    violations.push(`audit ${chain}: no event has the hash that its head gives for #${seq}`)
  }
  return violations
}

/** `record` moves the head in the same transaction, so events past the current head were written by something else. */
async function overrun(reader: Reader, scope: ChainScope, end: End): Promise<string[]> {
  const [head] = await headOf(reader, { scope })
  return head && head.seq >= end.seq ? [] : [`audit ${scope} #${end.seq}: is after the head of its chain`]
}

async function* eventsOf(reader: Reader): AsyncGenerator<AuditEventRow> {
  for (let last = { scope: '', seq: 0 }; ; ) {
    const rows = await pageOfChains(reader, { ...last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = { scope: end.scope, seq: end.seq }
    await nextTurn()
  }
}

async function* headsOf(reader: Reader): AsyncGenerator<AuditHeadRow> {
  for (let last = ''; ; ) {
    const rows = await pageOfHeads(reader, { scope: last, limit: PAGE })
    yield* rows
    const end = rows.at(-1)
    if (!end || rows.length < PAGE) return
    last = end.scope
    await nextTurn()
  }
}
