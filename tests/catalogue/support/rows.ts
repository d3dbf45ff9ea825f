import { describe, expect, test } from 'bun:test'
import { eventually } from '../../support/eventually'
import type { Who } from './people'
import type { Reply, Sending } from './reply'
import type { Target } from './target'

/** One row of the catalogue: what is sent, and which statuses and code answer it. */
export type Row = Sending & {
  id: string
  what: string
  /** `POST completions` unless said. */
  ask?: string
  is: number | readonly number[]
  code?: string
  /** What else must be true of the answer. */
  also?(reply: Reply, target: Target): void | Promise<void>
}

const DEFAULT_ASK = 'POST completions'

/** Runs each row on its own: the status, the code, and that a refusal cost nothing. */
export function attack(area: string, target: Target, rows: readonly Row[]): void {
  describe(area, () => {
    test.each(rows.map((row) => [`${row.id} ${row.what}`, row] as const))('%s', async (_, row) => {
      const [method, path] = (row.ask ?? DEFAULT_ASK).split(' ') as [string, string]
      const payer = row.key === undefined && row.as !== null ? target.people.emailOf((row.as ?? 'k1') as Who) : null
      const before = payer ? await target.moneyOf(payer) : null
      const reply = await target.send(method, path, row)
      if (!accepted(row.is).includes(reply.status)) throw new Error(`${reply.status}: ${reply.text.slice(0, 600)}`)
      if (row.code !== undefined) expect(reply.body?.error?.code).toBe(row.code)
      // The hold that the calls before shared may just end.
      if (payer && reply.status >= 400)
        await eventually(
          () => target.moneyOf(payer),
          ({ balance, held }) => balance === before!.balance && held <= before!.held,
        )
      await row.also?.(reply, target)
    })
  })
}

const accepted = (is: Row['is']): readonly number[] => (typeof is === 'number' ? [is] : is)
