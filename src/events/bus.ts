import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Tx } from '../kernel/store'
import { type DomainEvent, EventId, type EventKind } from './schema'

type Deps = {
  clock: Clock
  /** Logs a listener that failed after the commit; the change it reacted to stays. */
  onError(type: string, error: unknown): void
}

/** What led to an event: how deep the one was that started it. */
type Cause = { depth?: number | undefined }
type TransactionListener = (tx: Tx, event: DomainEvent<never>) => Promise<void>
type AfterCommitListener = (event: DomainEvent<never>) => void
type Subscription<React> = { kind: EventKind | '*'; react: React }
type Listeners = { inTransaction: TransactionListener[]; afterCommit: AfterCommitListener[] }

export type EventBus = ReturnType<typeof createEventBus>

/** The in-process event bus. Rooms subscribe when they are built, and emit inside the transaction of the change. */
export function createEventBus({ clock, onError }: Deps) {
  const transactionListeners: Subscription<TransactionListener>[] = []
  const afterCommitListeners: Subscription<AfterCommitListener>[] = []
  /** Who listens to each kind that was emitted; forgotten when somebody subscribes. */
  let known = new WeakMap<EventKind, Listeners>()
  const subscribe = <React>(subscriptions: Subscription<React>[], subscription: Subscription<React>): void => {
    subscriptions.push(subscription)
    known = new WeakMap()
  }
  const listenersOf = (kind: EventKind): Listeners => {
    const found = known.get(kind) ?? {
      inTransaction: listeningTo(transactionListeners, kind),
      afterCommit: listeningTo(afterCommitListeners, kind),
    }
    known.set(kind, found)
    return found
  }

  return {
    /**
     * Notifies all listeners. `inTransaction` listeners run now, in order of subscription; `afterCommit` listeners run
     * once the transaction has committed, and not at all when it is rolled back.
     */
    async emit<Data extends object>(
      tx: Tx,
      kind: EventKind<Data>,
      scope: OwnerScope,
      data: Data,
      { depth = 0 }: Cause = {},
    ): Promise<DomainEvent<Data>> {
      const event = { id: EventId.create(), type: kind.type, scope, created: clock.now(), data, depth }
      const listeners = listenersOf(kind)
      for (const react of listeners.inTransaction) await react(tx, event as DomainEvent<never>)
      for (const react of listeners.afterCommit) {
        tx.afterCommit(() => contain(() => react(event as DomainEvent<never>), kind.type))
      }
      return event
    },

    /** `react` runs in the emitting transaction: its writes commit with the change, and its failure rolls both back. */
    inTransaction<Data extends object>(
      kind: EventKind<Data> | '*',
      react: (tx: Tx, event: DomainEvent<Data>) => Promise<void>,
    ): void {
      subscribe(transactionListeners, { kind, react: react as TransactionListener })
    },

    /** `react` runs after the commit and before the caller is answered; it must not await anything. */
    afterCommit<Data extends object>(kind: EventKind<Data> | '*', react: (event: DomainEvent<Data>) => void): void {
      subscribe(afterCommitListeners, { kind, react: react as AfterCommitListener })
    },
  }

  /** An exception after the commit would make a stored change look failed. */
  function contain(effect: () => void, type: string): void {
    try {
      effect()
    } catch (error) {
      onError(type, error)
    }
  }
}

const listeningTo = <React>(subscriptions: Subscription<React>[], { type, internal }: EventKind): React[] =>
  subscriptions.filter(({ kind }) => (kind === '*' ? !internal : kind.type === type)).map(({ react }) => react)
