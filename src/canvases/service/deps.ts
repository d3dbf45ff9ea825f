import type { AuditLog } from '../../audit'
import type { CompletionService } from '../../completions'
import type { EventBus } from '../../events'
import { type Call, ownerOf, type TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import { notFound } from '../../kernel/errors'
import type { Reader, Store, Tx } from '../../kernel/store'
import type { SkillService } from '../../skills'
import { type Compilation, compileCanvas } from '../compile'
import type { About } from '../manifest'
import { canvasRepository as rows } from '../repository'
import { slugOf, titleOf } from '../rules'
import { CanvasId } from '../schema'
import type { CanvasRow } from '../table'

export type CanvasDeps = {
  store: Store
  audit: AuditLog
  events: EventBus
  clock: Clock
  skills: Pick<SkillService, 'examine' | 'submitIn' | 'reading' | 'assertMayManage'>
  completions: CompletionService
}

/** The caller's own canvas. Foreign, unknown and malformed ids all give the same 404 (I22). */
export async function owned(reader: Reader, caller: TenantCaller, id: string): Promise<CanvasRow> {
  const row = CanvasId.is(id) ? await rows.find(reader, ownerOf(caller), id) : undefined
  if (!row) throw notFound('canvas')
  return row
}

/** Like `owned`, with the row locked for a change. Throws 403 for an org's key whose creator may not manage skills. */
export async function ownedLocked(
  { skills }: Pick<CanvasDeps, 'skills'>,
  tx: Tx,
  caller: TenantCaller,
  id: string,
): Promise<CanvasRow> {
  const row = CanvasId.is(id) ? await rows.findLocked(tx, ownerOf(caller), id) : undefined
  if (!row) throw notFound('canvas')
  await skills.assertMayManage(tx, caller)
  return row
}

/** The time of a change, at least 1 ms after the last one, so that every change is visible in `updated_at`. */
export const touched = (clock: Clock, { updated_at }: Pick<CanvasRow, 'updated_at'>): number =>
  Math.max(clock.now(), updated_at + 1)

type Note = { action: `canvas.${string}`; fields?: string[]; metadata?: Record<string, unknown> }

/** Writes an audit entry for a canvas, in its owner's scope (contract 19). */
export async function recordOn(
  { audit }: Pick<CanvasDeps, 'audit'>,
  tx: Tx,
  call: Call,
  { id, owner }: Pick<CanvasRow, 'id' | 'owner'>,
  { action, ...input }: Note,
): Promise<void> {
  await audit.record(tx, call, { action, entityType: 'canvas', entityId: id, scope: owner, input })
}

/** Version and author in the manifest of an unpublished canvas. */
const UNPUBLISHED = { version: '1.0.0', author: { name: 'Canvas author' } }

/** Compiles the current graph; `about` overrides the manifest members derived from the canvas. */
export function compileRow({ graph, name, description }: CanvasRow, about: Partial<About> = {}): Compilation {
  return compileCanvas(graph, {
    name: titleOf(name),
    description: description ?? '',
    slug: slugOf(name),
    ...UNPUBLISHED,
    ...about,
  })
}
