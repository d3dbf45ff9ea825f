import { expect, test } from 'bun:test'
import { postgresUrl } from '../support/store'
import { AFFORDED, AT_ONCE, runOverdraft } from './overdraft'

test('credit for ten calls, two hundred at once: ten answers, the rest 402, nothing left and nothing owed (I7)', async () => {
  for (const round of await runOverdraft({ rounds: 5, postgresUrl: postgresUrl ?? null })) {
    expect(round).toEqual({ statuses: { 200: AFFORDED, 402: AT_ONCE - AFFORDED }, balance: 0, held: 0 })
  }
}, 180_000)
