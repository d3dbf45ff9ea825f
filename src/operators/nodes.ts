import type { AuditLog } from '../audit'
import { type NodeRow, setDrain } from '../cluster'
import type { Call, OperatorCaller } from '../kernel/caller'
import { iso, isoOrNull } from '../kernel/clock'
import { defineError, notFound, quoted } from '../kernel/errors'
import type { Store } from '../kernel/store'
import type { Node } from './schema'

export type NodeDeps = {
  store: Store
  audit: AuditLog
  nodes: { list(): Promise<NodeRow[]> }
}

const runsAlone = defineError(
  'conflict',
  () => 'This server runs alone on SQLite, so no other node could take its work. Stop it instead.',
)

const ambiguousNode = defineError(
  'validation_error',
  (ref: string) => `"${quoted(ref)}" is the beginning of several nodes. Send more characters of the id.`,
)

type OperatorCall = Call<OperatorCaller>

export const listNodes = async ({ nodes }: NodeDeps): Promise<Node[]> => (await nodes.list()).map(present)

/** Finds a node by id or id prefix. Throws 404 for a node that is not serving, 400 for an ambiguous prefix. */
export async function getNode({ nodes }: NodeDeps, ref: string): Promise<Node> {
  const all = await nodes.list()
  const exact = all.filter(({ id }) => id === ref)
  const found = exact.length ? exact : all.filter(({ id }) => id.startsWith(ref))
  if (found.length > 1) throw ambiguousNode(ref)
  if (!found[0]) throw notFound('node')
  return present(found[0])
}

/**
 * Drains or resumes a node. A drained node answers `GET /health` with 503 and begins no job. The node learns of the
 * change with its next renewal. Throws as `getNode`, and 409 on SQLite.
 */
export async function drainNode(deps: NodeDeps, call: OperatorCall, ref: string, drains: boolean): Promise<Node> {
  const { id, host, address } = await getNode(deps, ref)
  if (deps.store.dialect !== 'postgres') throw runsAlone()
  await deps.store.write(async (tx) => {
    await setDrain(tx, { id, drains })
    await deps.audit.record(tx, call, {
      action: drains ? 'node.drained' : 'node.resumed',
      entityType: 'settings',
      entityId: id,
      input: { metadata: { host, address } },
    })
  })
  return getNode(deps, id)
}

function present({ id, roles, since, drain_at, state }: NodeRow): Node {
  const { version, host, pid, address, load, lag_ms, connections, jobs, clock_ahead_ms } = state ?? UNKNOWN
  const isEmpty = drain_at !== null && connections === 0 && jobs === 0
  return {
    id,
    object: 'node',
    status: drain_at === null ? 'serving' : isEmpty ? 'empty' : 'draining',
    roles: (roles ?? '').split(',').filter(Boolean),
    ...{ version, host, pid, address, load, lag_ms, connections, jobs, clock_ahead_ms },
    since: isoOrNull(since),
    drain_at: drain_at === null ? null : iso(drain_at),
  }
}

/** The values for a node of an earlier version, which does not report them. */
const UNKNOWN = {
  ...{ version: null, host: null, pid: null, address: null, load: null },
  ...{ lag_ms: null, connections: null, jobs: null, clock_ahead_ms: null },
}
