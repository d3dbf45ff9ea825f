import { expect, test } from 'bun:test'
import { modeOfCall } from '../../../src/completions'
import { newCallId } from '../../../src/completions/agent-turn'
import { ENGINES } from '../../../src/engines'

const MODES = ENGINES.map(({ mode }) => mode)

test.each(MODES)('an id of mode %s says so, and looks like any other', (mode) => {
  const ids = Array.from({ length: 200 }, () => newCallId(mode))
  expect(new Set(ids).size).toBe(200)
  for (const id of ids) {
    expect(id).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(modeOfCall(id, MODES)).toBe(mode)
  }
})

test.each(['', 'call_', 'call_1', 'call_abcdefghijklmnopqrstuvwx', 'toolu_abcdefghijklmnopqrstuvwx', 'x'.repeat(128)])(
  '%p is not ours',
  (id) => expect(modeOfCall(id, MODES)).toBeNull(),
)
