import { and, eq, gte, lt, sql } from 'drizzle-orm'
import type { AuditLog } from '../audit'
import { storeAnswer } from '../idempotency'
import { type Call, type Caller, type OwnerScope, ownerOf } from '../kernel/caller'
import { iso } from '../kernel/clock'
import { invalidInput, notFound } from '../kernel/errors'
import { type PageRequest, pagesBy } from '../kernel/keyset'
import { mapPage, type Page } from '../kernel/page'
import { rowsOf } from '../kernel/rows'
import type { Reader, Tx } from '../kernel/store'
import { accountOf, type OwnerFilter, type ResourceDeps } from '../resource'
import { type ModeOfCall, modeOfCall } from '../usage'
import { readEngine, readMode } from './rules'
import { type Correction, CorrectionId, type CorrectionQuery, type NewCorrection } from './schema'
import { type CorrectionRow, routingCorrections } from './table'

/** Number of audit log pages searched for a completion. One page covers up to 200,000 events. */
const MAX_PAGES = 5

type Deps = { resources: ResourceDeps; audit: Pick<AuditLog, 'list' | 'record'> }

/** Corrections state the mode a prompt should have got. They belong to the person or, with an org's key, to the org. */
export function createCorrections({ resources, audit }: Deps) {
  const { store, clock } = resources
  return { add, list }

  /** `POST /routing-corrections`. Throws 400 without prompt and completion, 404 for a completion of another owner. */
  async function add(call: Call, input: NewCorrection): Promise<Correction> {
    const { completion_id = null, prompt = null, note = null } = input
    if (completion_id === null && prompt === null) {
      throw invalidInput('prompt', 'Neither "prompt" nor "completion_id" was sent. Send the prompt, or both.')
    }
    const expected_mode = readMode(input.expected_mode, 'expected_mode', invalidInput)
    const expected_engine = readEngine(input.expected_engine, 'expected_engine', invalidInput)
    const text = input.resolved_mode == null ? null : readMode(input.resolved_mode, 'resolved_mode', invalidInput)
    const found = completion_id === null ? null : await modeOfCompletion(call, completion_id)
    const isWrong = found?.mode === 'auto' && found.resolved !== expected_mode
    const row: CorrectionRow = {
      id: CorrectionId.create(),
      owner: ownerOf(call.caller),
      user_id: call.caller.userId,
      completion_id,
      prompt,
      resolved_mode: text ?? found?.resolved ?? null,
      expected_mode,
      expected_engine,
      note,
      wrong_at: isWrong ? found.at : null,
      created_at: clock.now(),
    }
    return store.write(async (tx) => {
      await correctionRepository.insert(tx, row)
      await audit.record(tx, call, {
        action: 'routing_correction.created',
        entityType: 'routing_correction',
        entityId: row.id,
        input: { mode: expected_mode, ...(completion_id ? { metadata: { completion_id } } : {}) },
      })
      return storeAnswer(tx, call, presentCorrection(row))
    })
  }

  /** `GET /routing-corrections`: newest first. Throws 400 for an unknown mode. */
  async function list(call: Call<Caller>, query: CorrectionQuery, ownerFilter: OwnerFilter): Promise<Page<Correction>> {
    const { expected_mode: mode, ...wanted } = query
    if (mode !== undefined) readMode(mode, 'expected_mode', invalidInput)
    const owner = await accountOf(resources, call, ownerFilter)
    return mapPage(await correctionRepository.list(store.read, owner, { mode, ...wanted }), presentCorrection)
  }

  /** The requested and the resolved mode of a completion, from the owner's records. Throws 404 for an unknown id. */
  async function modeOfCompletion(call: Call, id: string): Promise<ModeOfCall | null> {
    // Before 2026-11-28, records and events stored a chat id without the `chat` prefix.
    const otherwise = id.startsWith('chat') ? id.slice('chat'.length) : `chat${id}`
    const found = (await recordedMode(call, id)) ?? (await recordedMode(call, otherwise))
    if (found === null) throw notFound('completion')
    return found.mode
  }

  async function recordedMode({ caller }: Call, entity_id: string): Promise<{ mode: ModeOfCall | null } | null> {
    const owner = ownerOf(caller)
    const wanted = { entity_type: 'completion', entity_id, limit: 1 }
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES; page++) {
      const { items, next } = await audit.list(store.read, owner, { ...wanted, ...(cursor ? { cursor } : {}) })
      const [event] = items
      if (event) {
        const about = { requestId: event.requestId, at: Date.parse(event.timestamp) }
        return { mode: await modeOfCall(store.read, owner, about) }
      }
      if (!next) break
      cursor = next
    }
    return null
  }
}

/** A stored correction as the API shows it, without its author. */
function presentCorrection(row: CorrectionRow): Correction {
  const { id, completion_id, prompt, resolved_mode, expected_mode, expected_engine, note, created_at } = row
  return {
    id,
    object: 'routing_correction',
    completion_id,
    prompt,
    resolved_mode,
    expected_mode,
    expected_engine,
    note,
    created: iso(created_at),
  }
}

const rows = rowsOf(routingCorrections)
const newestFirst = pagesBy(routingCorrections, 'created_at')
type Listed = PageRequest & { mode?: string | undefined; since?: number }

/** Rows of corrections. A list contains those of one owner only. */
export const correctionRepository = {
  insert: rows.insert,

  list(db: Reader, owner: OwnerScope, { mode, since, ...wanted }: Listed): Promise<Page<CorrectionRow>> {
    const table = db.of(routingCorrections)
    return newestFirst(
      db,
      wanted,
      eq(table.owner, owner),
      mode === undefined ? undefined : eq(table.expected_mode, mode),
      since === undefined ? undefined : gte(table.created_at, since),
    )
  },

  removeAll: async (tx: Tx, owner: OwnerScope): Promise<void> => void (await rows.remove(tx, { owner })),
}

/**
 * Counts the completions in [from, to), each once, for which `auto` chose a wrong mode according to the owner's
 * corrections. Needed for routing accuracy (docs/api.md 21). Corrections of a prompt alone do not count, because they
 * name no completion.
 */
export async function wronglyChosenIn(
  db: Reader,
  owner: OwnerScope,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const t = db.of(routingCorrections)
  // Chat clients send a completion id with the prefix `chatcmpl_`.
  const completion = sql`replace(${t.completion_id}, 'chatcmpl_', 'cmpl_')`
  const [row] = await db
    .select({ count: sql<number>`count(DISTINCT ${completion})`.mapWith(Number) })
    .from(t)
    // A correction is never older than its completion, so `created_at`, which is indexed, may narrow the search.
    .where(and(eq(t.owner, owner), gte(t.created_at, from), gte(t.wrong_at, from), lt(t.wrong_at, to)))
  return row!.count
}
