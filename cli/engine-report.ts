import { clean } from '../src/kernel/text'
import { CheckFailed, expectData } from './failure'
import { column } from './output/columns'
import type { Shell } from './shell'
import type { Connection } from './transport'

export type Check = { check: string; ok: boolean; latency_ms: number; detail: string }

export const spellCheck = ({ check, ok, latency_ms, detail }: Check): string =>
  ok ? `${check} ${latency_ms} ms` : `${check} failed: ${detail}`

export const savedColumns = [
  column('name', 'NAME'),
  column('kind', 'KIND'),
  column('models', 'MODELS', { kind: 'list' }),
  column('modes', 'MODES', { kind: 'list' }),
  column('saved_to', 'SAVED TO'),
]

type Saved = { saved_to: string | null; tests: { id: string; checks: Check[] }[] }

/** Prints the tests and what was saved. `way` is another way out of a failure. @throws CheckFailed when nothing was saved */
export function showSaved(shell: Shell, saved: Saved, way = ''): void {
  for (const test of saved.tests) sayTest(shell, test)
  if (saved.saved_to === null) {
    shell.note(`Nothing was saved. Fix the problem and try again${way}, or add --no-test.`)
    throw new CheckFailed()
  }
  shell.print.item(saved, savedColumns)
}

/** Calls that run end with what they began with. */
export const sayInUse = ({ note }: Shell, { transport: { kind } }: Connection): void =>
  void (kind !== 'local' && note('New requests use it now; other nodes follow within a second.'))

/** What a call costs where the new upstream has no price of its own. */
export async function sayPrice(shell: Shell, connection: Connection, name: string): Promise<void> {
  const { prices } = expectData(await connection.ops().engines.prices.get())
  const price = prices.find(({ mode }) => mode === 'fast')
  if (!price) return
  const { sample, sample_cents, set_by } = price
  const from =
    set_by === 'built in' ? "svc's own price" : `the price of ${set_by === 'here' ? 'engines set-prices' : set_by}`
  shell.note(
    `No price is set for ${name}, so a call costs ${from}: ${sample_cents}¢ for ${sample} (mode fast). Set one: svc-admin engines update ${name} --price-prompt N --price-completion N. See all: svc-admin engines prices`,
  )
}

function sayTest({ io, globals, paint }: Shell, { id, checks }: { id: string; checks: Check[] }): void {
  for (const check of checks) {
    const word = check.ok ? paint('good', 'ok  ') : paint('bad', 'fail')
    if (!globals.quiet) io.err(`${word}  ${clean(`${id}  ${spellCheck(check)}`)}`)
  }
}
