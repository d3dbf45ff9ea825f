import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { devKeyOf, startServerProcess } from '../support/server-process'
import { createMigratedDatabase, postgresUrl } from '../support/store'
import { temporaryFolder } from '../support/temporary-folder'
import { videoServer } from './video-server'

const server = videoServer()
const root = temporaryFolder('svc-video-resume-')
const database = postgresUrl ? await createMigratedDatabase(postgresUrl) : null
afterAll(() => database?.drop())

/** A node; on Postgres each has a folder of its own, and all share the files. */
const boot = (name: string) =>
  startServerProcess({
    dataDir: join(root, database ? name : 'a'),
    env: {
      SVC_JOB_LEASE_SECONDS: '5',
      SVC_VIDEO_BASE_URL: server.url,
      SVC_FILES_DIR: join(root, 'files'),
      ...(database ? { SVC_DATABASE_URL: database.url } : {}),
    },
  })

async function started() {
  const first = await boot('a')
  const key = devKeyOf(join(root, 'a'))
  const ask = async (url: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const input = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(`${url}/api/v1/${path}`, { headers, ...input })).json()
  }
  return { first, ask }
}

async function other() {
  if (!database) return null
  mkdirSync(join(root, 'b'), { mode: 0o700, recursive: true })
  cpSync(join(root, 'a', 'secrets.json'), join(root, 'b', 'secrets.json'))
  return boot('b')
}

test('one whose process is killed is followed elsewhere by its id, and paid for once (I9, I15)', async () => {
  const { first, ask } = await started()
  server.will.looks = 1_000_000
  const { job_id: id } = await ask(first.url, 'video', { prompt: 'a ship', duration: '4s' })
  await eventually(() => server.of('GET', /video_1$/).length > 0)
  const second = await other()
  await first.kill()
  server.will.looks = 1
  const next = second ?? (await boot('a'))
  try {
    const job = await eventually(
      () => ask(next.url, `jobs/${id}`),
      ({ status }) => status === 'completed' || status === 'failed',
    )
    expect(job).toMatchObject({ status: 'completed', attempts: 2, error: null, usage: { cost_cents: 40 } })
    expect(server.of('POST', /videos$/)).toHaveLength(1)
    expect((await ask(next.url, 'usage')).totals).toMatchObject({ requests: 1, cost_cents: 40 })
  } finally {
    await next.kill()
  }
}, 60_000)

test('one whose process is killed while it orders is not ordered again, and nothing is charged', async () => {
  const { first, ask } = await started()
  server.reset()
  const stuck = Promise.withResolvers<Response>()
  server.will.order = () => stuck.promise
  const { job_id: id } = await ask(first.url, 'video', { prompt: 'a ship', duration: '4s' })
  await eventually(() => server.of('POST', /videos$/).length > 0)
  const second = await other()
  await first.kill()
  stuck.resolve(Response.json({ id: 'video_9' }))
  const next = second ?? (await boot('a'))
  try {
    const job = await eventually(
      () => ask(next.url, `jobs/${id}`),
      ({ status }) => status === 'completed' || status === 'failed',
    )
    expect(job).toMatchObject({ status: 'failed', usage: { cost_cents: 0 } })
    expect(job.error).toContain('was not repeated')
    expect(server.of('POST', /videos$/)).toHaveLength(1)
  } finally {
    await next.kill()
  }
}, 60_000)
