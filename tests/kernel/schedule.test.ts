import { expect, test } from 'bun:test'
import { nextRunOf, problemOfCron } from '../../src/kernel/schedule'

const at = (text: string) => new Date(nextRunOf(text, 'UTC', 0)!).toISOString().slice(11, 16)

test.each([
  ['5/10 * * * *', '00:05'],
  ['0 9/2 * * *', '09:00'],
  ['0/5 * * * *', '00:05'],
  ['0 9 * * 1-5', '09:00'],
])('%s is a schedule, and runs first at %s', (text, first) => {
  expect({ problemOfCron: problemOfCron(text), text: at(text) }).toEqual({ problemOfCron: null, text: first })
})

test.each(['5/70 * * * *', '0 0 L * *', '/5 * * * *', '61 * * * *', '0 9 * *', '', '0 9 * * MON#1', '0 0 9 * * *'])(
  '%p is no schedule',
  (text) => {
    expect(problemOfCron(text)).toContain('is not a schedule of five fields')
  },
)
