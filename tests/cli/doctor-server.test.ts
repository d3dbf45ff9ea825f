import { describe, expect, test } from 'bun:test'
import type { Context } from '../../cli/doctor/check'
import { auditCheck, devKeyCheck, enginesCheck, ledgerCheck } from '../../cli/doctor/server'

describe('the server', () => {
  const answers = (ops: object) => ({ connect: async () => ({ ops: () => ops }) }) as unknown as Context
  const data = (body: object) => async () => ({ data: body, error: null, status: 200 })
  const status = { get: data({ mode: 'production' }) }

  test('may draw pictures by itself, and nothing else in production', async () => {
    const target = { state: 'ready', rank: 1, target: 'x' }
    const engines = (mode: string) =>
      answers({
        status,
        engines: {
          get: data({
            engines: [
              { ...target, mode: 'auto', kind: 'compat' },
              { ...target, mode, kind: 'builtin' },
            ],
          }),
        },
      })
    expect(await enginesCheck.run(engines('image'))).toMatchObject({ status: 'ok' })
    expect(await enginesCheck.run(engines('fast'))).toMatchObject({ status: 'fail' })
  })

  test('names each upstream that is away, once', async () => {
    const away = { state: 'unreachable', rank: 1, kind: 'compat', problem: 'nothing listens there' }
    const one = { ...away, target: 'one:a', address: 'http://127.0.0.1:1' }
    const two = { ...away, target: 'two:b', address: 'http://127.0.0.1:2' }
    const rows = [one, two].flatMap((row) => ['fast', 'think'].map((mode) => ({ ...row, mode })))
    expect(await enginesCheck.run(answers({ engines: { get: data({ engines: rows }) } }))).toMatchObject({
      status: 'fail',
      detail: 'one:a at http://127.0.0.1:1: nothing listens there; two:b at http://127.0.0.1:2: nothing listens there',
    })
  })

  test('names the check by what broke: checkpoints are of the audit record', async () => {
    const checks = [
      { check: 'ledger and holds', violations: [] },
      { check: 'audit chain', violations: [] },
      { check: 'audit checkpoints', violations: ['line 5 differs'] },
    ]
    const context = answers({ verify: { post: data({ checks }) } })
    expect(await ledgerCheck.run(context)).toMatchObject({ status: 'ok' })
    expect(await auditCheck.run(context)).toMatchObject({
      status: 'fail',
      detail: '1 broken: audit checkpoints: line 5 differs',
    })
  })

  test('is warned of in production while the key of a first run in dev mode works', async () => {
    const keys = (...found: object[]) =>
      answers({ status, keys: { get: data({ keys: found, has_more: false, next_cursor: null }) } })
    expect(await devKeyCheck.run(keys({ id: 'a', name: 'Shop' }))).toMatchObject({ status: 'ok' })
    expect(await devKeyCheck.run(keys({ id: 'b', name: 'Dev laptop' }))).toMatchObject({
      status: 'warn',
      fix: 'svc-admin keys revoke b --reason production',
    })
    expect(await devKeyCheck.run(answers({ status: { get: data({ mode: 'development' }) } }))).toMatchObject({
      status: 'skip',
    })
  })
})
