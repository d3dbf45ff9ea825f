import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port'
import { cleanEnv, devKeyOf } from '../support/server-process'

const PATH = `${process.env.PATH}:/usr/sbin`
const missing = ['haproxy', 'redis-server'].filter((name) => !Bun.which(name, { PATH }))
const [initdb] = await Array.fromAsync(new Bun.Glob('/usr/lib/postgresql/*/bin/initdb').scan({ absolute: true }))
if (!initdb && !Bun.which('initdb')) missing.push('postgresql')
if (missing.length) process.stdout.write(`NOT RUN: dev cluster, because ${missing.join(', ')} is not installed.\n`)

const folder = mkdtempSync(join(tmpdir(), 'svc-dev-cluster-'))
const admin = async (...words: string[]) => {
  const child = Bun.spawn([process.execPath, 'cli/main.ts', ...words], {
    env: cleanEnv(),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { exitCode: await child.exited, stdout, stderr }
}
const cluster = (...words: string[]) => admin('dev', 'cluster', ...words, '--folder', folder)
afterAll(async () => {
  await cluster('down')
  rmSync(folder, { recursive: true, force: true })
})

test.skipIf(missing.length > 0)(
  'dev cluster starts nodes that share work behind a proxy, survives one, stops, and continues with its data',
  async () => {
    const port = await freePort()
    const ask = async () => {
      const headers = {
        authorization: `Bearer ${devKeyOf(join(folder, 'node-1'))}`,
        'content-type': 'application/json',
      }
      const body = JSON.stringify({ prompt: 'What is 17 * 23?' })
      return (await fetch(`http://127.0.0.1:${port}/api/v1/completions`, { method: 'POST', headers, body })).json()
    }
    const started = await cluster('up', '--port', String(port), '-o', 'json')
    expect({ ...started, stdout: '' }).toMatchObject({ exitCode: 0 })
    const rows = JSON.parse(started.stdout) as { name: string; pid: number }[]
    expect(rows.map(({ name }) => name)).toEqual(['proxy', 'node-1', 'node-2', 'postgres', 'redis'])
    expect(await ask()).toMatchObject({ content: expect.stringContaining('391') })

    const again = await cluster('up', '--port', String(port))
    expect(again).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('A cluster runs in') })
    const { stdout } = await admin('nodes', 'list', '--data-dir', join(folder, 'node-1'), '-o', 'json')
    expect(JSON.parse(stdout)).toHaveLength(2)
    const doctor = await admin('doctor', 'secrets', 'redis', 'jobs', '--data-dir', join(folder, 'node-1'), '-o', 'json')
    // The master key of the nodes is not in this shell.
    expect(JSON.parse(doctor.stdout)).toMatchObject([
      { status: 'warn', detail: expect.stringContaining('a server runs here without') },
      { status: 'ok' },
      { status: 'ok' },
    ])

    process.kill(rows.find(({ name }) => name === 'node-1')!.pid, 'SIGKILL')
    for (let n = 0; n < 10; n++) expect(await ask()).toMatchObject({ content: expect.stringContaining('391') })
    expect(await cluster('down')).toMatchObject({ exitCode: 0 })
    for (const { name, pid } of rows) expect({ name, isAlive: isAlive(pid) }).toEqual({ name, isAlive: false })

    expect(await cluster('up', '--nodes', '1', '--port', String(port))).toMatchObject({ exitCode: 0 })
    const audit = await admin('audit', 'list', '--data-dir', join(folder, 'node-1'), '-o', 'json')
    expect(JSON.parse(audit.stdout).length).toBeGreaterThan(0)
  },
  120_000,
)

test('dev cluster says what it takes', async () => {
  expect(await cluster('sideways')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('one of up, down') })
  expect(await admin('dev', 'cluster', 'down', '--folder', join(folder, 'none'))).toMatchObject({ exitCode: 3 })
})

/** A process that has ended and that nobody has waited for is not alive. */
const isAlive = (pid: number): boolean => {
  const state = Bun.spawnSync(['ps', '-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return state !== '' && !state.startsWith('Z')
}
