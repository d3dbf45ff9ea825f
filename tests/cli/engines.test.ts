// SQLite only: a client of routes that tests of their modules call on both.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cliOver } from '../support/cli'
import { temporaryFolder } from '../support/temporary-folder'
import { startUpstream } from '../support/upstream'
import { createWorld } from '../support/world'

const upstream = await startUpstream({ text: '{"ok": true}' })
const folder = temporaryFolder('svc-cli-engines-')
const world = await createWorld()
const run = cliOver(world)
afterAll(() => upstream.stop())

const saved = () => world.app.container.engineRegistry.newest().stored
const ADD = ['engines', 'add', 'main', '--base-url', upstream.url, '--models', 'scripted', '--no-key']

describe('engines', () => {
  test('add tests an upstream with its settings and keeps them all', async () => {
    const settings = ['--context-window', '8192', '--call-timeout', '90s', '--concurrency', '4', '--vision', 'yes']
    const more = ['--header', 'X-Team: blue', '--json-output', 'auto', '--price-prompt', '7']
    const { exitCode, stderr } = await run([...ADD, ...settings, ...more])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringContaining('main:scripted') })
    expect(upstream.calls.at(-1)!.headers).toMatchObject({ 'x-team': 'blue' })
    expect(saved().upstreams.main).toEqual({
      kind: 'compat',
      baseUrl: upstream.url,
      contextWindow: 8192,
      timeoutMs: 90_000,
      concurrency: 4,
      headers: { 'X-Team': 'blue' },
      vision: true,
      prices: { promptPer1k: 7 },
    })
  })

  test('update changes what is named, and auto takes back what was said', async () => {
    const { exitCode } = await run('engines update main --vision auto --max-output-tokens 512')
    expect(exitCode).toBe(0)
    expect(saved().upstreams.main).toMatchObject({ maxOutputTokens: 512, contextWindow: 8192 })
    expect(saved().upstreams.main?.vision).toBeUndefined()
    expect((await run('engines update main')).exitCode).toBe(2)
    expect((await run('engines update none --call-timeout 5s')).exitCode).toBe(3)
  })

  test('map names the targets of a mode, and none takes them back', async () => {
    expect((await run('engines map think --to main:scripted')).exitCode).toBe(0)
    expect(saved().models['svc-1-reason']).toEqual({ targets: ['main:scripted'], only: true })
    expect((await run('engines map think --to none')).exitCode).toBe(0)
    expect(saved().models).toEqual({ '*': { targets: ['main:scripted'], only: false } })
  })

  test('test asks what answers one mode alone', async () => {
    expect((await run('engines test --mode nothing')).exitCode).toBe(3)
    const { exitCode, stdout } = await run('engines test --mode think --json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout).map(({ id }: { id: string }) => id)).toEqual(['main:scripted'])
  })

  test('disable keeps an upstream, and enable asks it again', async () => {
    const off = await run('engines disable main --json')
    expect(JSON.parse(off.stdout)).toMatchObject({ name: 'main', modes: [], models: ['scripted'] })
    expect(off.stderr).toContain('undo: svc-admin engines enable main')
    expect(saved().upstreams.main).toMatchObject({ off: true, contextWindow: 8192 })
    expect(saved().models).toEqual({ '*': { targets: ['main:scripted'], only: false } })
    const requested = upstream.calls.length
    expect((await run('engines enable main')).exitCode).toBe(0)
    expect(upstream.calls.length).toBeGreaterThan(requested)
    expect(saved().upstreams.main?.off).toBeUndefined()
    expect((await run('engines disable none')).exitCode).toBe(3)
  })

  test('prices shows what each engine costs, and set-prices what a change does', async () => {
    const shown = JSON.parse((await run('engines prices show --json')).stdout)
    const flash = shown.find(({ id }: { id: string }) => id === 'svc-1-flash')
    // 1,000 tokens at the 7 micro-cents of its upstream, and 500 at 80,000.
    expect(flash).toMatchObject({ sample_cents: 0.040007, set_by: 'upstream', price: { promptPer1k: 7 } })
    const file = join(folder, 'prices.yaml')
    writeFileSync(file, 'svc-1-flash:\n  promptPer1k: 60000\n')
    const plan = await run(`engines prices set -f ${file} --dry-run --exit-code --json`)
    expect({ exitCode: plan.exitCode, kept: saved().prices }).toEqual({ exitCode: 10, kept: {} })
    expect(JSON.parse(plan.stdout)).toMatchObject([{ id: 'svc-1-flash', sample_cents: 0.1, before_cents: 0.040007 }])
    expect((await run(`engines set-prices -f ${file}`)).exitCode).toBe(0)
    expect(saved().prices).toEqual({ 'svc-1-flash': { promptPer1k: 60_000 } })
    expect((await run(`engines set-prices -f ${file} --dry-run --exit-code`)).exitCode).toBe(0)
    writeFileSync(file, '{svc-1-flash: null}')
    expect((await run(`engines set-prices -f ${file}`)).exitCode).toBe(0)
    expect(saved().prices).toEqual({})
    writeFileSync(file, '{svc-1-flsh: {}}')
    const refused = await run(`engines set-prices -f ${file}`)
    expect({ ...refused, stdout: '' }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('"svc-1-flsh"') })
  })

  test('remove asks, and refuses while engines would be left with nothing', async () => {
    const refused = await run('engines remove main --yes')
    expect({ ...refused, stdout: '' }).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('--force') })
    expect((await run('engines remove main --force --yes')).exitCode).toBe(0)
    expect(saved()).toEqual({ upstreams: {}, models: {}, prices: {} })
  })
})
