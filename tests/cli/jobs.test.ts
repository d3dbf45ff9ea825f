// SQLite only: a client of routes that tests of their modules call on both.
import { describe, expect, test } from 'bun:test'
import { progressBar } from '../../cli/commands/jobs'
import { jobsIn, kindOf, report } from '../charging/public-jobs/support'
import { cliOver } from '../support/cli'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { fakeIo } from '../support/io'
import { createWorld } from '../support/world'

const world = await createWorld()
const { accept, define, run: work, walletOf } = jobsIn(world)
const run = cliOver(world)
const { json } = run
const research = define(kindOf(report))
const sure = ['--yes', '--reason', 'asked']

/** A kind whose run shows its progress and ends when it is told how. */
function guided() {
  const end = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const kind = define(
    kindOf(
      async () => {
        begun.resolve()
        await end.promise
        return report()
      },
      { retry: { attempts: 1, delayMs: () => 0 } },
    ),
  )
  return { kind, end, begun: begun.promise }
}

test('a bar is as long for every percent', () => {
  expect([0, 50, 99, 100].map(progressBar)).toEqual([
    '[------------] 0%',
    '[######------] 50%',
    '[###########-] 99%',
    '[############] 100%',
  ])
})

describe('jobs', () => {
  test('list and get show what there is, to its owner and to operators', async () => {
    const [ada, eve] = [await world.person(), await world.person()]
    const [mine, theirs] = [await accept(ada, research), await accept(eve, research)]
    const idsOf = (jobs: { id: string }[]) => jobs.map(({ id }) => id)
    expect(idsOf(await json('jobs list', { key: ada.key }))).toEqual([mine])
    expect(idsOf(await json('jobs list'))).toEqual(expect.arrayContaining([mine, theirs]))
    expect(idsOf(await json(`jobs list --org user:${eve.userId}`))).toEqual([theirs])
    expect(await json('jobs list --status completed', { key: ada.key })).toEqual([])
    expect(await json('jobs list --older 1d', { key: ada.key })).toEqual([])
    const tomorrow = fakeClock(new Date(Date.now() + 2 * 86_400_000).toISOString())
    expect(idsOf(await json('jobs list --older 1d', { key: ada.key, clock: tomorrow }))).toEqual([mine])
    expect((await run(['jobs', 'get', mine], { key: ada.key })).stdout).toContain('[------------] 0%')
    expect((await run(['jobs', 'get', theirs], { key: ada.key })).exitCode).toBe(3)
    expect((await run('jobs list', { key: (await world.person()).key })).stderr).toContain('No jobs yet.')
  })

  test('get --result prints the report alone, and 9 while there is none', async () => {
    const ada = await world.person()
    const id = await accept(ada, research)
    const early = await run(`jobs get ${id} --result`, { key: ada.key })
    expect({ exitCode: early.exitCode, stdout: early.stdout }).toEqual({ exitCode: 9, stdout: '' })
    expect(early.stderr).toContain('It is queued')
    await work(research)
    expect((await run(`jobs get ${id} --result`, { key: ada.key })).stdout).toBe('# Tides [1]\n')
  })

  test('get --watch follows the progress', async () => {
    const ada = await world.person()
    const { kind, end, begun } = guided()
    const id = await accept(ada, kind)
    const [clock, io, ctrlC] = [fakeClock(), fakeIo({ width: 120 }), new AbortController()]
    const watching = run(`jobs get ${id} --watch`, { key: ada.key, clock, io, signal: ctrlC.signal })
    await eventually(() => io.stdout().includes('[------------] 0%') && clock.wakesWithin(2_000))
    const working = work(kind)
    await begun
    end.resolve()
    await working
    clock.advance(2_000)
    await eventually(() => io.stdout().includes('[############] 100%') && clock.wakesWithin(2_000))
    ctrlC.abort()
    expect((await watching).exitCode).toBe(130)
  })

  test('wait says each step, and exits with how it ended', async () => {
    const ada = await world.person()
    const { kind, end, begun } = guided()
    const id = await accept(ada, kind)
    const [clock, io] = [fakeClock(), fakeIo()]
    const waiting = run(`jobs wait ${id} --json`, { key: ada.key, clock, io })
    await eventually(() => io.stderr().includes('queued') && clock.wakesWithin(2_000))
    const working = work(kind)
    await begun
    clock.advance(2_000)
    await eventually(() => io.stderr().includes('active') && clock.wakesWithin(2_000))
    end.resolve()
    await working
    clock.advance(2_000)
    const { exitCode, stdout, stderr } = await waiting
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ id, status: 'completed', usage: { cost_cents: 3 } })
    expect(stderr.trim().split('\n')).toEqual([
      '[------------] 0% queued',
      '[------------] 0% active',
      '[############] 100% completed',
    ])
  })

  test('wait exits 9 for a job that failed, and 8 when the time is over', async () => {
    const ada = await world.person()
    const id = await accept(ada, research)
    const clock = fakeClock()
    const waiting = run(`jobs wait ${id} --within 3s`, { key: ada.key, clock })
    for (const _ of [1, 2]) {
      await eventually(() => clock.wakesWithin(2_000))
      clock.advance(2_000)
    }
    const late = await waiting
    expect(late.exitCode).toBe(8)
    expect(late.stderr).toContain(`jobs wait ${id}`)
    await run(`jobs cancel ${id} --yes`, { key: ada.key })
    expect((await run(`jobs wait ${id}`, { key: ada.key })).exitCode).toBe(9)
  })

  test('cancel ends one or several, as their owner or as operator, and 5 what has ended', async () => {
    const ada = await world.person({ cents: 100 })
    const ids = [await accept(ada, research), await accept(ada, research), await accept(ada, research)]
    const dry = await run(['jobs', 'cancel', ids[0]!, '--dry-run'], { key: ada.key })
    expect(dry.stderr).toContain(`would cancel job ${ids[0]}`)
    const cancelled = await json(['jobs', 'cancel', ids[0]!, ids[1]!, '--yes'], { key: ada.key })
    expect(cancelled).toMatchObject([{ error: 'cancelled' }, { error: 'cancelled' }])
    expect(await json(['jobs', 'cancel', ids[2]!, ...sure])).toMatchObject([{ id: ids[2], status: 'failed' }])
    expect(await walletOf(ada)).toEqual({ cents: 100, held: 0 })
    expect((await run(['jobs', 'cancel', ids[0]!, '--yes'], { key: ada.key })).exitCode).toBe(5)
    expect((await run('jobs cancel --yes', { key: ada.key })).exitCode).toBe(2)
  })

  test('retry makes a new job of a failed one, for operators only', async () => {
    const ada = await world.person({ cents: 100 })
    const id = await accept(ada, research)
    await run(['jobs', 'cancel', id, ...sure])
    const [next] = await json(['jobs', 'retry', id, ...sure])
    expect(next).toMatchObject({ status: 'queued', attempts: 0 })
    expect(next.id).not.toBe(id)
    expect((await run(['jobs', 'retry', next.id, ...sure])).exitCode).toBe(5)
    expect((await run(`jobs retry ${id} --yes`, { key: ada.key })).exitCode).not.toBe(0)
  })
})
