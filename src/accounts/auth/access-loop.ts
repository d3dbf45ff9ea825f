import type { TenantCaller } from '../../kernel/caller'
import type { Clock } from '../../kernel/clock'
import type { AppError } from '../../kernel/errors'
import type { OrgId, SessionId, UserId } from '../../kernel/ids'
import { type Loop, startLoop } from '../../kernel/loop'
import type { Store } from '../../kernel/store'
import type { KeyLookup } from '../keys/lookup'
import type { OrgService } from '../orgs/service'
import { authErrors } from './errors'
import type { Sessions } from './sessions'

type AccessWatchDeps = {
  store: Store
  keys: Pick<KeyLookup, 'working'>
  sessions: Pick<Sessions, 'openAmong'>
  orgs: Pick<OrgService, 'standingOf'>
  /** Uses that only this process knows. Until they are written the store holds an earlier expiry for them. */
  sessionUses: { flush(): Promise<void> }
}

/** Access of one running answer. `signal` aborts, with the refusal as its reason, when the caller loses access. */
type Access = { readonly signal: AbortSignal; end(): void }

type Followed = { readonly caller: TenantCaller; readonly ending: AbortController }

/** State of all followed callers in the store. */
type AccessState = { secrets: Set<string>; sessions: Set<SessionId>; openOrgs: Map<UserId, Set<OrgId>> }

export type AccessWatch = ReturnType<typeof createAccessWatch>

const secretOf = (caller: TenantCaller): string | null => (caller.type === 'key' ? caller.secretHash : null)

const sessionOf = ({ sessionId = null }: TenantCaller): SessionId | null => sessionId

/** The org that pays for the answer: the key's own org, else the org that was active when the answer began. */
const orgOf = ({ orgId, activeOrgId }: TenantCaller): OrgId | null => orgId ?? activeOrgId

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]

type Deps = { access: AccessWatch; clock: Clock; onError(name: string, error: unknown): void }

/** An answer must end within 5 s after its caller loses access. Two checks fit into that time. */
const IDLE_MS = 2_000
/** Wait while no answer runs. An answer that starts meanwhile is still checked within the 5 s. */
const NONE_RUNS_MS = 4_000

/** Checks the access of all running answers until stopped. */
export function startAccessLoop({ access, clock, onError }: Deps): Loop {
  let failing = false
  // Failures stay inside, because the loop would wait longer after each one while the database is unreachable.
  const tick = async () => {
    try {
      await access.check()
      failing = false
    } catch (error) {
      if (!failing) onError('access', error)
      failing = true
    }
    return 0
  }
  return startLoop({ name: 'access', idleMs: () => (access.isIdle() ? NONE_RUNS_MS : IDLE_MS), clock, onError, tick })
}

/**
 * Ends answers that run longer than their caller's access: a revoked, rotated or expired key, an ended session, a
 * disabled account, an organization that the caller left or that was closed (docs/api.md 1.2).
 */
export function createAccessWatch({ store, keys, sessions, orgs, sessionUses }: AccessWatchDeps) {
  const running = new Set<Followed>()
  let written: Promise<unknown> = Promise.resolve()

  return {
    /** True when no answer runs in this process. */
    isIdle: (): boolean => running.size === 0,

    follow(caller: TenantCaller): Access {
      const one = { caller, ending: new AbortController() }
      running.add(one)
      // A failed write is no reason to end an answer: without it the session only seems to end up to 30 s early.
      if (caller.type === 'session') written = sessionUses.flush().catch(() => undefined)
      return { signal: one.ending.signal, end: () => void running.delete(one) }
    },

    /**
     * Checks all running answers with three queries, however many there are. Reads the store, because the change may
     * have come from another node.
     */
    async check(): Promise<void> {
      const all = [...running]
      if (!all.length) return
      await written
      const found = await readAccess(all.map(({ caller }) => caller))
      for (const one of all) {
        const refusal = refusalOf(one.caller, found)
        if (refusal && running.delete(one)) one.ending.abort(refusal)
      }
    },
  }

  async function readAccess(callers: readonly TenantCaller[]): Promise<AccessState> {
    const secrets = callers.flatMap((caller) => secretOf(caller) ?? [])
    const ids = callers.flatMap((caller) => sessionOf(caller) ?? [])
    const orgIds = callers.flatMap((caller) => orgOf(caller) ?? [])
    const [working, open, state] = await Promise.all([
      secrets.length ? keys.working(unique(secrets)) : new Set<string>(),
      ids.length ? sessions.openAmong(unique(ids)) : new Set<SessionId>(),
      orgs.standingOf(store.read, unique(callers.map(({ userId }) => userId)), unique(orgIds)),
    ])
    return { secrets: working, sessions: open, openOrgs: state }
  }
}

function refusalOf(caller: TenantCaller, { secrets, sessions, openOrgs: state }: AccessState): AppError | null {
  const stopped = caller.type === 'key' ? authErrors.keyStopped : authErrors.sessionStopped
  const secret = secretOf(caller)
  const session = sessionOf(caller)
  const works = (secret === null || secrets.has(secret)) && (session === null || sessions.has(session))
  const member = state.get(caller.userId)
  if (!works || !member) return stopped()
  const org = orgOf(caller)
  if (org === null || member.has(org)) return null
  return caller.orgId ? stopped() : authErrors.membershipStopped()
}
