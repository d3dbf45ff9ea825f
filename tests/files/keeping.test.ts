import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sweepFiles } from '../../src/files/drafts'
import { fakeClock } from '../support/clock'
import { listen } from '../support/listening'
import { startS3 } from '../support/s3'
import { createWorld, type World } from '../support/world'
import { noise, ownerOf, PIXEL, pathOf, saveFor, storedIn } from './support'

const DAY_MS = 86_400_000
const sweep = ({ app }: World) => sweepFiles({ store: app.store, clock: app.clock, ...app.container.filePlace })

/** Makes a file as old as two days before the clock of the world. */
function age(world: World, path: string): void {
  const at = (world.clock.now() - 2 * DAY_MS) / 1_000
  utimesSync(path, at, at)
}
const pathIn = (world: World, name: string) => join(world.folder, 'files', name.slice(0, 2), name)

describe('retention', () => {
  test('ends files after the days that are set, with their bytes, on the record', async () => {
    const clock = fakeClock()
    const world = await createWorld({ clock, config: { filesRetentionDays: 2 } })
    const person = await world.person()
    const first = await saveFor(world, person, noise(100, 1))
    clock.advance(DAY_MS)
    const second = await saveFor(world, person, noise(100, 2))
    clock.advance(DAY_MS)
    // Not served a moment longer, whenever the job runs.
    expect((await person.send('GET', `artifacts/${first.id}`)).status).toBe(404)
    expect((await world.send('GET', pathOf(first.url))).status).toBe(404)
    const { removeExpired } = world.app.container.files
    expect(await removeExpired(10)).toBe(1)
    expect(await removeExpired(10)).toBe(0)
    const fresh = await world.app.container.files.get(world.callAs(person), second.id)
    expect((await world.send('GET', pathOf(fresh.url))).status).toBe(200)
    const events = (await person.send('GET', 'audit?action=artifact.deleted')).body
    expect(events.map(({ entityId }: { entityId: string }) => entityId)).toEqual([first.id])
    expect(await world.app.container.files.verify(world.app.store.read)).toEqual([])
  })

  test('is without end unless it is set', async () => {
    const clock = fakeClock()
    const world = await createWorld({ clock })
    const person = await world.person()
    const { id } = await saveFor(world, person, PIXEL)
    clock.advance(10_000 * DAY_MS)
    expect(await world.app.container.files.removeExpired(10)).toBe(0)
    expect((await person.send('GET', `artifacts/${id}`)).status).toBe(200)
  })
})

describe('bytes without an owner', () => {
  test('are swept once they are a day old; those of artifacts and new ones stay', async () => {
    const world = await createWorld({ clock: fakeClock() })
    const { files, filePlace } = world.app.container
    const person = await world.person()
    await saveFor(world, person, noise(100, 1))
    const [owned] = storedIn(world.folder)
    const [old, young] = [await files.receive(noise(100, 2), 'x/y'), await files.receive(noise(100, 3), 'x/y')]
    writeFileSync(join(filePlace.incoming, 'half'), 'half')
    writeFileSync(join(filePlace.incoming, 'writing'), 'half')
    for (const path of [pathIn(world, owned!), pathIn(world, old.place), join(filePlace.incoming, 'half')])
      age(world, path)
    expect(await sweep(world)).toBe(2)
    expect(storedIn(world.folder).sort()).toEqual([owned!, young.place].sort())
    expect(existsSync(join(filePlace.incoming, 'writing'))).toBe(true)
    expect(existsSync(join(filePlace.incoming, 'half'))).toBe(false)
  })

  test('are left by no failure: a source that breaks, a commit that fails', async () => {
    const world = await createWorld()
    const person = await world.person()
    async function* broken() {
      yield noise(1_000)
      throw new Error('the engine went away')
    }
    await expect(saveFor(world, person, broken())).rejects.toThrow('the engine went away')
    const { files } = world.app.container
    const draft = await files.receive(PIXEL, 'image/png')
    const unit = world.app.store.write(async (tx) => {
      await files.add(tx, ownerOf(person), draft, { type: 'image', filename: 'a', engine: 'e', model: 'm' })
      throw new Error('the commit failed')
    })
    await expect(unit).rejects.toThrow('the commit failed')
    await files.discard(draft)
    expect(storedIn(world.folder)).toEqual([])
    expect(await files.verify(world.app.store.read)).toEqual([])
    await saveFor(world, person, PIXEL)
    expect(await files.verify(world.app.store.read)).toEqual([])
  })

  test('what is miscounted is told', async () => {
    const world = await createWorld()
    const person = await world.person()
    const { id } = await saveFor(world, person, PIXEL)
    const { artifacts } = await import('../../src/files/table')
    await world.app.store.write((tx) => tx.delete(tx.of(artifacts)))
    const notices = await world.app.container.files.verify(world.app.store.read)
    expect(notices.join()).toContain('counts 1 artifacts and has 0')
    expect(notices.join()).toContain(`user:${person.userId} counts`)
    expect(id).toStartWith('art_')
  })
})

describe('a bucket in place of the folder', () => {
  const s3 = startS3()
  afterAll(() => s3.stop())
  const config = {
    filesS3Bucket: 'bucket',
    filesS3Endpoint: s3.endpoint,
    filesS3Region: 'auto',
    filesS3AccessKeyId: 'id',
    filesS3SecretAccessKey: 'secret',
  }

  test('keeps, serves in ranges, removes and sweeps', async () => {
    const clock = fakeClock(new Date().toISOString())
    const world = await createWorld({ clock, config })
    world.app.listensAt(listen(world).origin)
    const person = await world.person()
    const bytes = noise(300_000, 5)
    const saved = await saveFor(world, person, bytes)
    expect(s3.objects.size).toBe(1)
    const whole = await fetch(saved.url!)
    expect(whole.headers.get('content-disposition')).toStartWith('attachment')
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
    const part = await fetch(saved.url!, { headers: { range: 'bytes=1000-1999' } })
    expect(part.status).toBe(206)
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1_000, 2_000))).toBe(true)
    expect((await fetch(saved.url!, { method: 'HEAD' })).headers.get('content-length')).toBe('300000')

    const { files } = world.app.container
    for (const seed of [11, 12, 13]) await files.receive(noise(10, seed), 'x/y')
    expect(await sweep(world)).toBe(0)
    clock.advance(2 * DAY_MS)
    expect(await sweep(world)).toBe(3)
    expect(s3.objects.size).toBe(1)
    s3.objects.clear()
    expect((await fetch((await files.get(world.callAs(person), saved.id)).url!)).status).toBe(503)
    await person.send('DELETE', `artifacts/${saved.id}`)
    expect(s3.refused).toEqual([])
  })

  test('that is away is 503, and nothing is kept', async () => {
    const world = await createWorld({ config: { ...config, filesS3Endpoint: 'http://127.0.0.1:1' } })
    const refusal = await saveFor(world, await world.person(), PIXEL).catch((error) => error)
    expect(refusal).toMatchObject({ kind: 'unavailable', code: 'storage_unavailable' })
    expect(await world.app.container.files.verify(world.app.store.read)).toEqual([])
  })
})
