import type { OwnerScope } from '../kernel/caller'
import type { Clock } from '../kernel/clock'
import type { Tx } from '../kernel/store'
import { type DomainEvent, EventId, type EventKind } from './schema'

type Deps = {
  clock: Clock
  /** A listener failed after the commit: the cause stands, so this is for the log only. */
  onError(type: string, error: unknown): void
}

type InUnit = (tx: Tx, event: DomainEvent<never>) => Promise<void>
type Afterwards = (event: DomainEvent<never>) => void
type Subscription<React> = { kind: EventKind | '*'; react: React }

export type EventBus = ReturnType<typeof createEventBus>

/** The bus inside one process. Rooms subscribe while they are built, and emit inside the unit of the cause. */
export function createEventBus({ clock, onError }: Deps) {
  const inUnit: Subscription<InUnit>[] = []
  const afterwards: Subscription<Afterwards>[] = []

  return {
    /**
     * Tells everyone who listens. Listeners in the unit run now, in the order they came; the others once
     * the unit is durable, and never when it is undone.
     */
    async emit<Data extends object>(
      tx: Tx,
      kind: EventKind<Data>,
      scope: OwnerScope,
      data: Data,
    ): Promise<DomainEvent<Data>> {
      const event = { id: EventId.create(), type: kind.type, scope, created: clock.now(), data }
      for (const { react } of hearing(inUnit, kind)) await react(tx, event as DomainEvent<never>)
      for (const { react } of hearing(afterwards, kind)) {
        tx.afterCommit(() => contain(() => react(event as DomainEvent<never>), kind.type))
      }
      return event
    },

    /** `react` runs in the same unit: what it writes commits with the cause, and its failure undoes both. */
    inTransaction<Data extends object>(
      kind: EventKind<Data> | '*',
      react: (tx: Tx, event: DomainEvent<Data>) => Promise<void>,
    ): void {
      inUnit.push({ kind, react: react as InUnit })
    },

    /** `react` runs after the commit, before the caller is answered; it must not wait for anything. */
    afterCommit<Data extends object>(kind: EventKind<Data> | '*', react: (event: DomainEvent<Data>) => void): void {
      afterwards.push({ kind, react: react as Afterwards })
    },
  }

  /** An effect that throws after a commit would make a stored change look failed. */
  function contain(effect: () => void, type: string): void {
    try {
      effect()
    } catch (error) {
      onError(type, error)
    }
  }
}

const hearing = <React>(subscriptions: Subscription<React>[], { type, internal }: EventKind): Subscription<React>[] =>
  subscriptions.filter(({ kind }) => (kind === '*' ? !internal : kind.type === type))
