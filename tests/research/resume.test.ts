import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { startResearchSite } from '../support/research-site'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { startUpstream } from '../support/upstream'

const PAGES = 10
/** How many pages are read at once. */
const AT_ONCE = 4

const site = startResearchSite()
const upstream = await startUpstream({
  text: ({ messages }) => {
    const text = JSON.stringify(messages)
    if (text.includes('You plan research')) return '{"title":"The lighthouse","aspects":["When was it built?"]}'
    const number = /Q(\d+): The lighthouse of Port Ellis was built in 1871/.exec(text)?.[1]
    return `## Summary\nThe lighthouse of Port Ellis was built in 1871 by the engineer Ada Merrow. [Q${number}]`
  },
})
const root = mkdtempSync(join(tmpdir(), 'svc-research-'))
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
afterAll(async () => {
  site.stop()
  await upstream.stop()
  await database?.drop()
  rmSync(root, { recursive: true, force: true })
})

/** A node; on Postgres each has a folder of its own, and all share the files. */
const boot = (name: string) =>
  startServerProcess({
    dataDir: join(root, database ? name : 'data'),
    env: {
      SVC_EGRESS_ALLOW: '127.0.0.1/32',
      // Longer than a busy machine stalls a process: a lease that is lost for that is a try that is lost.
      SVC_JOB_LEASE_SECONDS: '10',
      SVC_ENGINE_BASE_URL: upstream.url,
      SVC_ENGINE_MODEL: 'scripted',
      SVC_FILES_DIR: join(root, 'files'),
      ...(database ? { SVC_DATABASE_URL: database.url } : {}),
    },
  })

function mkdirOf(name: string): string {
  mkdirSync(join(root, name), { mode: 0o700 })
  return join(root, name)
}

test('a research whose process is killed continues on another node with what was read, and is charged once (I9, I15)', async () => {
  const first = await boot('a')
  const key = devKeyOf(join(root, database ? 'a' : 'data'))
  const ask = async (url: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const input = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(`${url}/api/v1/${path}`, { headers, ...input })).json()
  }
  const release = site.hold(PAGES - AT_ONCE)
  const prompt = `When was the lighthouse of Port Ellis built?\n${site.urls.slice(0, PAGES).join('\n')}`
  const { job_id: id } = await ask(first.url, 'research', { prompt })
  await eventually(() => site.read.length === PAGES)
  // The last four wait, so what was read before them is kept by now.
  if (database) cpSync(join(root, 'a', 'secrets.json'), join(mkdirOf('b'), 'secrets.json'))
  // Killed at once: a page that nobody answers is given up after ten seconds, and a start may take as long.
  await first.kill()
  release()
  const next = await boot(database ? 'b' : 'a')
  try {
    const job = await eventually(
      () => ask(next.url, `jobs/${id}`),
      ({ status }) => status === 'completed' || status === 'failed',
    )
    expect(job).toMatchObject({ status: 'completed', attempts: 2, error: null })
    expect(job.result).toContain('built in 1871')
    expect(job.result_data).toMatchObject({ extractive: false, sources_consulted: PAGES })
    expect(site.read.length - PAGES).toBeLessThanOrEqual(AT_ONCE)
    // It was planned once: the second try had the plan of the first.
    expect(upstream.calls).toHaveLength(2)
    expect(job.usage.cost_cents).toBeGreaterThan(0)
    expect((await ask(next.url, 'usage')).totals).toMatchObject({ requests: 1, cost_cents: job.usage.cost_cents })
    expect(await ask(next.url, `jobs/${id}/verification`)).toMatchObject({ sound: true })
  } finally {
    await next.kill()
  }
}, 90_000)
