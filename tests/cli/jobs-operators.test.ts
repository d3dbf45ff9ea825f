import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jobsIn, kindOf, report } from '../charging/public-jobs/support'
import { saveFor } from '../files/support'
import { operatorSender } from '../operators/support'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { recordedIn } from '../support/recorded'
import { createWorld } from '../support/world'

const clock = fakeClock()
const world = await createWorld({ clock })
const { accept, define, run: work } = jobsIn(world)
const run = cliOver(world, { clock })
const { json } = run
const ops = operatorSender(world)
const sure = ['--yes', '--reason', 'asked']
const DAY_MS = 86_400_000

const research = define(kindOf(report))
let fails = 0
const failing = define(
  kindOf(async () => {
    fails += 1
    throw new Error('broken')
  }),
)
const idsOf = (jobs: { id: string }[]) => jobs.map(({ id }) => id)
const actions = (action: string) => recordedIn(world, { action })

describe('jobs that operators look after (docs/operating.md 2.12)', () => {
  test('list --key has those that a key ordered', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [mine, theirs] = [await accept(ada, research), await accept(eve, research)]
    expect(idsOf(await json(`jobs list --key ${ada.keyId}`))).toEqual([mine])
    expect(idsOf(await json(`jobs list --key ${eve.keyId}`, { key: eve.key }))).toEqual([theirs])
    expect(await json(`jobs list --key ${eve.keyId}`, { key: ada.key })).toEqual([])
    expect((await run(['jobs', 'list', '--key', 'no such key'])).exitCode).toBe(3)
  })

  test('get --out saves the report, or the file that was made, to the byte', async () => {
    const ada = await world.person()
    const bytes = new Uint8Array(2_000).map((_, at) => at % 251)
    const draft = await world.app.container.files.receive(bytes, 'application/octet-stream')
    const about = { type: 'file', filename: 'a.bin', engine: 'svc-core', model: 'svc-1-video' } as const
    const videos = define(kindOf(async () => ({ file: { draft, about }, cost: 0 })))
    const [clip, paper] = [await accept(ada, videos), await accept(ada, research)]
    const at = join(world.folder, 'clip.bin')
    expect((await run(['jobs', 'get', clip, '--out', at], { key: ada.key })).exitCode).toBe(9)
    expect(existsSync(at)).toBe(false)
    await work(videos)
    await work(research)
    for (const options of [{ key: ada.key }, {}]) {
      await run(['jobs', 'get', clip, '--out', at], options)
      expect(new Uint8Array(readFileSync(at))).toEqual(bytes)
    }
    await run(['jobs', 'get', paper, '--out', at], { key: ada.key })
    expect(readFileSync(at, 'utf8')).toBe('# Tides [1]')
  })

  test('logs tell each try, why it was put off, and how it ended', async () => {
    const id = await accept(await world.person(), failing)
    const shows = async () => (await json(`jobs logs ${id}`)).map(({ what, attempt }: never) => [what, attempt])
    expect(await shows()).toEqual([['queued', 0]])
    await work(failing)
    clock.advance(1_000)
    await work(failing)
    expect(await shows()).toEqual([
      ['queued', 0],
      ['begun', 1],
      ['put_off', 1],
      ['begun', 2],
      ['failed', 2],
    ])
    const followed = await run(`jobs logs ${id} --follow`)
    expect(followed.exitCode).toBe(0)
    expect(followed.stdout.trim().split('\n')).toHaveLength(5)
    expect(followed.stdout).not.toContain('broken')
    const log = await (await world.app.ops.handle(new Request(`http://localhost/ops/v1/jobs/${id}/log`))).json()
    expect(log).toMatchObject({ cost_cents: 0, webhooks: 0, status: 'failed' })
    expect((await run('jobs logs job_nobody')).exitCode).toBe(3)
  })

  test('retry --all takes what failed and the filters leave, and no cancelled one', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [mine, theirs, gone] = [await accept(ada, failing), await accept(eve, failing), await accept(ada, failing)]
    await run(['jobs', 'cancel', gone, ...sure])
    for (const _ of [1, 2]) {
      await work(failing)
      clock.advance(1_000)
    }
    const of = (who: string) => ['jobs', 'retry', '--all', '--key', who, '--since', '1h']
    expect((await run([...of(ada.keyId), '--dry-run'])).stderr).toContain(`would retry job ${mine}`)
    expect((await run([...of(ada.keyId), '--type', 'video', ...sure])).stderr).toContain('No failed job')
    expect((await run([...of(ada.keyId), '--filter', '!failed', ...sure])).stderr).toContain('No failed job')
    const before = fails
    expect(await json([...of(ada.keyId), ...sure])).toMatchObject([{ status: 'queued' }])
    expect(await json([...of(eve.keyId), ...sure])).toHaveLength(1)
    await work(failing)
    expect(fails).toBe(before + 2)
    expect((await run(['jobs', 'retry', '--all', theirs])).exitCode).toBe(2)
  })

  test('pause holds a type back until resume, and both are on the record', async () => {
    const ada = await world.person()
    expect((await run('jobs pause research')).exitCode).toBe(2)
    expect((await run(['jobs', 'pause', 'music', ...sure])).exitCode).toBe(2)
    expect(await json(['jobs', 'pause', 'research', ...sure])).toMatchObject({ type: 'research' })
    const id = await accept(ada, research)
    expect(await work(research)).toBe(0)
    const [queue] = (await json('jobs queues')).filter(({ type }: { type: string }) => type === 'research')
    expect(queue.queued).toBeGreaterThan(0)
    expect(queue).toMatchObject({ active: 0, nodes: 0, paused_at: expect.any(String), oldest_at: expect.any(String) })
    await run(['jobs', 'pause', 'research', ...sure])
    expect(await json('jobs resume research --reason over')).toMatchObject({ paused_at: null })
    await work(research)
    expect(await json(`jobs get ${id}`)).toMatchObject({ status: 'completed' })
    expect(await actions('job.paused')).toHaveLength(1)
    expect(await actions('job.resumed')).toHaveLength(1)
    expect((await ops('POST', 'job-queues/music/pause')).status).toBe(404)
  })

  test('purge deletes what ended so long ago, with its log, and nothing else', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const free = { cents: 0 }
    const [mine, theirs] = [await accept(ada, research, free), await accept(eve, research, free)]
    await work(research)
    clock.advance(8 * DAY_MS)
    const young = await accept(eve, research)
    await work(research)
    const line = ['jobs', 'purge', '--before', '7d', '--org', `user:${eve.userId}`]
    expect((await run([...line, '--dry-run'])).stderr).toContain('would delete 1 job that')
    expect((await run(line)).exitCode).toBe(2)
    expect(await json([...line, ...sure])).toMatchObject({ object: 'job_purge', jobs: 1 })
    expect((await run(['jobs', 'get', theirs])).exitCode).toBe(3)
    expect((await run(['jobs', 'logs', theirs])).exitCode).toBe(3)
    for (const id of [mine, young]) expect((await run(`jobs get ${id}`)).exitCode).toBe(0)
    expect(await json(['jobs', 'purge', '--before', '7d', ...sure])).toMatchObject({ object: 'job_purge' })
    expect((await run(['jobs', 'get', mine])).exitCode).toBe(3)
    expect((await actions('job.purged')).length).toBeGreaterThan(1)
  })
})

test('artifacts (docs/operating.md 2.18): list, get and prune what everyone keeps, without links and prompts', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const old = await saveFor(world, ada, Buffer.from('an old file of Ada'), { type: 'document' })
  clock.advance(100 * DAY_MS)
  const fresh = await saveFor(world, ada, Buffer.from('a new file of Ada'))
  const theirs = await saveFor(world, eve, Buffer.from('a file of Eve'))
  const owner = `user:${ada.userId}`
  const all = await json(`artifacts list --org ${owner}`)
  expect(idsOf(all)).toEqual([fresh.id, old.id])
  expect(JSON.stringify(all)).not.toMatch(/a pixel|signature|"url"/)
  expect(idsOf(await json(`artifacts list --type document --org ${owner}`))).toEqual([old.id])
  expect(await json(`artifacts list --by org --org ${owner}`)).toEqual([{ owner, files: 2, bytes: 35 }])
  const ages = await json(`artifacts list --by age --org ${owner}`)
  expect(ages.map(({ up_to_days, files }: never) => [up_to_days, files])).toEqual([
    [1, 1],
    [7, 0],
    [30, 0],
    [90, 0],
    [365, 1],
    [null, 0],
  ])
  expect(await json(`artifacts get ${theirs.id}`)).toMatchObject({ owner: `user:${eve.userId}`, size_bytes: 13 })
  expect((await run('artifacts get art_nobody')).exitCode).toBe(3)
  const line = ['artifacts', 'prune', '--before', '90d', '--org', owner]
  expect((await run([...line, '--dry-run'])).stderr).toContain('would delete 1 file of 18 bytes')
  expect((await run(line)).exitCode).toBe(2)
  expect(await json([...line, ...sure])).toMatchObject({ files: 1, bytes: 18 })
  expect((await run(`artifacts get ${old.id}`)).exitCode).toBe(3)
  for (const { id } of [fresh, theirs]) expect((await run(`artifacts get ${id}`)).exitCode).toBe(0)
  expect((await ada.send('GET', `artifacts/${old.id}`)).status).toBe(404)
  expect(await recordedIn(world, { action: 'artifact.deleted', entityId: old.id })).toHaveLength(1)
  expect(await world.app.container.files.verify(world.app.store.read)).toEqual([])
})
