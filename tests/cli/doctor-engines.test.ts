import { describe, expect, test } from 'bun:test'
import { type Context, runChecks } from '../../cli/doctor/check'
import { classifierEngineCheck, guardrailEngineCheck } from '../../cli/doctor/engines'
import { loadConfig } from '../../src/app/config'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { createWorld } from '../support/world'

const CHECKS = [guardrailEngineCheck, classifierEngineCheck]
const base = loadConfig()
type Row = { id: string; mode: string; rank: number; target: string | null; kind: string | null; state: string }
const MODES: Record<string, string> = { 'svc-1-auto': 'auto', 'svc-1-reason': 'think', 'svc-1-code': 'code' }
const row = (id: string, target: string | null, more: Partial<Row> = {}): Row => ({
  id,
  mode: MODES[id]!,
  rank: 1,
  target,
  kind: target && 'compat',
  state: target ? 'ready' : 'none',
  ...more,
})
const CONNECTED = [row('svc-1-auto', 'local:small'), row('svc-1-reason', 'local:large'), row('svc-1-code', null)]
const BUILTIN = [row('svc-1-auto', 'builtin', { kind: 'builtin' })]

/** What the checks say under these settings, of a server with these engines. */
async function textOf(
  settings: object,
  engines: Row[] = CONNECTED,
): Promise<Record<string, [string, string, ...string[]]>> {
  const get = async () => ({ data: { engines }, error: null, status: 200 })
  const context = {
    shell: { clock: fakeClock() },
    config: () => ({ ...base, ...settings }),
    connect: async () => ({ ops: () => ({ engines: { get } }) }),
  } as unknown as Context
  const results = await runChecks(CHECKS, context)
  return Object.fromEntries(
    results.map(({ check, status, detail, fix }) => [check, [status, detail, ...(fix ? [fix] : [])]]),
  )
}

describe('the engine of the guardrails', () => {
  test.each<[string, string, Row[], [string, string, ...string[]]]>([
    ['one that is connected', 'auto', CONNECTED, ['ok', 'local:small']],
    ['one by its id', 'svc-1-reason', CONNECTED, ['ok', 'local:large']],
    ['none at all', 'off', CONNECTED, ['skip', 'off; only the local checks decide']],
    ['nothing but the built-in one', 'auto', BUILTIN, ['skip', 'no model is connected; only the local checks decide']],
    [
      'one that nobody answers',
      'svc-1-code',
      CONNECTED,
      ['fail', 'no model answers svc-1-code; only the local checks decide', 'export SVC_GUARDRAIL_ENGINE=auto'],
    ],
    [
      'one that is none',
      'svc-1-flush',
      CONNECTED,
      [
        'fail',
        'SVC_GUARDRAIL_ENGINE is "svc-1-flush", which is not an engine; only the local checks decide',
        'export SVC_GUARDRAIL_ENGINE=auto',
      ],
    ],
    [
      'one that keeps failing',
      'auto',
      [row('svc-1-auto', 'local:small', { state: 'failing' })],
      ['warn', 'local:small keeps failing; only the local checks decide for now', 'svc-admin engines test'],
    ],
  ])('%s', async (_, guardrailEngine, engines, finding) => {
    expect((await textOf({ guardrailEngine }, engines))['guardrail engine']).toEqual(finding)
  })
})

test('the engine of the classifier is a model, or none is needed', async () => {
  expect((await textOf({}))['classifier engine']).toEqual(['ok', 'local:small'])
  expect((await textOf({}, BUILTIN))['classifier engine']![0]).toBe('skip')
  const [failing] = [row('svc-1-auto', 'local:small', { state: 'failing' })]
  expect((await textOf({}, [failing!]))['classifier engine']![0]).toBe('warn')
})

test('doctor has them all', async () => {
  const { stdout } = await cliOver(await createWorld())(['doctor', '--json', ...CHECKS.map(({ name }) => name)])
  expect((JSON.parse(stdout) as { check: string }[]).map(({ check }) => check)).toEqual(CHECKS.map(({ name }) => name))
})
