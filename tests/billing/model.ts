import fc from 'fast-check'

/** What can happen to an account, in the order a sequence says. Money in cents, time in ms. */
export type Step =
  | { do: 'topup'; ref: number; cents: number }
  | { do: 'hold'; cents: number }
  | { do: 'settle'; at: number; cents: number }
  | { do: 'release'; at: number }
  | { do: 'retry'; at: number; cents: number }
  | { do: 'crash' }
  | { do: 'wait'; ms: number }
  | { do: 'caps'; daily: number | null; monthly: number | null }

const at = fc.nat({ max: 30 })
const cents = fc.integer({ min: 0, max: 400 })
const capCents = fc.option(fc.integer({ min: 1, max: 900 }), { nil: null })
const HOUR = 3_600_000

/** Fifty steps each. Short waits let holds end in time, long ones change the day and the month. */
export const sequence: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('topup' as const),
        ref: fc.nat({ max: 12 }),
        cents: fc.integer({ min: 1, max: 900 }),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('hold' as const), cents }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('settle' as const), at, cents }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), at }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('retry' as const), at, cents }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('wait' as const),
        ms: fc.constantFrom(60_000, 700_000, 5 * HOUR, 24 * HOUR, 240 * HOUR),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('caps' as const), daily: capCents, monthly: capCents }) },
  ),
  { minLength: 50, maxLength: 50 },
)

type ModelHold = { cents: number; at: number; open: boolean }

/** The longest a hold stays open by itself. */
const HOLD_MS = 660_000
const LOW_CENTS = 500

/** What should be true of an account after each step: the reference the real one is held against. */
export function createModel(now: () => number) {
  const holds: ModelHold[] = []
  const notice = new Set<number>()
  /** Charged, by the day the work began (what caps count) and by the day it ended (what reports count). */
  let [begun, ended] = [new Map<string, number>(), new Map<string, number>()]
  let balance = 0
  let caps: { daily: number | null; monthly: number | null } = { daily: null, monthly: null }
  let lows = 0

  const held = () => holds.reduce((sum, hold) => sum + (hold.open ? hold.cents : 0), 0)
  const hasCaps = () => caps.daily !== null || caps.monthly !== null
  const spent = (prefix: string) =>
    [...begun].reduce((sum, [day, amount]) => sum + (day.startsWith(prefix) ? amount : 0), 0)
  const isWithin = (wanted: number) => {
    const today = dayOf(now())
    const used = (prefix: string) => spent(prefix) + held() + wanted
    return (
      (caps.daily === null || used(today) <= caps.daily) &&
      (caps.monthly === null || used(today.slice(0, 7)) <= caps.monthly)
    )
  }

  return {
    holds,
    facts: () => ({ balance, held: held(), lows }),

    topup(ref: number, amount: number): void {
      if (notice.has(ref)) return
      notice.add(ref)
      balance += amount
    },

    /** Whether it is given. A hold of nothing is none. */
    hold(amount: number): boolean {
      if (amount === 0) return true
      if (balance - held() < amount || !isWithin(amount)) return false
      holds.push({ cents: amount, at: now(), open: true })
      return true
    },

    /** What is charged: never more than the hold, and nothing the second time. */
    settle(index: number, cost: number): number {
      const hold = holds[index]
      if (!hold?.open) return 0
      hold.open = false
      const charged = Math.min(cost, hold.cents)
      if (balance >= LOW_CENTS && balance - charged < LOW_CENTS) lows += 1
      balance -= charged
      if (charged > 0 && hasCaps()) add(begun, dayOf(hold.at), charged)
      if (charged > 0) add(ended, dayOf(now()), charged)
      return charged
    },

    release(index: number): boolean {
      const hold = holds[index]
      const was = hold?.open ?? false
      if (hold) hold.open = false
      return was
    },

    /** The next process gives back what a dead one held; where others may live, what is past its time. */
    recover(all: boolean): void {
      for (const hold of holds) if (all || hold.at + HOLD_MS <= now()) hold.open = false
    },

    setCaps(next: typeof caps): void {
      const month = dayOf(now()).slice(0, 7)
      const first = !hasCaps()
      caps = next
      if (!first || !hasCaps()) return
      // Caps that begin now know the month from what its calls cost.
      const before = [...begun].filter(([day]) => !day.startsWith(month))
      begun = new Map([...before, ...[...ended].filter(([day]) => day.startsWith(month))])
    },
  }
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

function add(days: Map<string, number>, day: string, amount: number): void {
  days.set(day, (days.get(day) ?? 0) + amount)
}
