import { describe, expect, test } from 'bun:test'
import { existsSync, linkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { operatorSender } from '../operators/support'
import { fakeClock } from '../support/clock'
import { eventually } from '../support/eventually'
import { createWorld, type Reply } from '../support/world'
import { noise, ownerOf, PIXEL, pathOf, saveFor, sha256, storedIn } from './support'

const clock = fakeClock('2026-03-01T00:00:00.000Z')
const world = await createWorld({ clock })
const operator = operatorSender(world)
const verify = () => world.app.container.files.verify(world.app.store.read)
const find = (content: Uint8Array) => storedIn(world.folder).filter((name) => name.startsWith(sha256(content)))
/** Waits until bytes are kept so many times: those of no artifact are removed after the answer. */
const isStored = (bytes: Uint8Array, times: number) =>
  eventually(
    () => find(bytes).length,
    (count) => count === times,
  )
const failure = ({ status, body }: Reply) => [status, body.error.code]

type Artifact = { id: string; created: string }
const created = (one: Artifact): string => one.created

describe('an artifact (docs/api.md 2.3)', () => {
  test('has every member of the contract and a link of an hour', async () => {
    const person = await world.person()
    const saved = await saveFor(world, person, PIXEL)
    const { status, body } = await person.send('GET', `artifacts/${saved.id}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: saved.id,
      type: 'image',
      title: null,
      filename: 'pixel.png',
      mime_type: 'image/png',
      url: expect.stringContaining(`/files/${saved.id}?expires=`),
      url_expires_at: '2026-03-01T01:00:00.000Z',
      size_bytes: PIXEL.byteLength,
      content: null,
      language: null,
      format: null,
      width: 1,
      height: 1,
      duration_seconds: null,
      engine: 'svc-vision',
      model: 'svc-1-create',
      prompt: 'a pixel',
      created: '2026-03-01T00:00:00.000Z',
      request_id: expect.any(String),
    })
  })

  test('is listed newest first with a link that works, by kind, type, time and words, for its owner only', async () => {
    const [person, other] = [await world.person(), await world.person()]
    const formats = ['pdf', 'docx', 'csv']
    for (const format of formats) {
      const prompt = `# Tides in ${format}\n\n| a | b |\n|---|---|\n| 1 | 2 |`
      expect((await person.send('POST', 'documents', { prompt, format })).status).toBe(200)
      clock.advance(1_000)
    }
    const image = await saveFor(world, person, PIXEL)
    const list = async (query = '') => (await person.send('GET', `artifacts${query}`)).body
    const { artifacts: all, has_more } = await list()
    expect(all.map(({ format, id }: Record<string, string>) => format ?? id)).toEqual([image.id, 'csv', 'docx', 'pdf'])
    expect(has_more).toBe(false)
    for (const { created, size_bytes, expires_at, url, content } of all) {
      expect(Date.parse(created) > 0).toBe(true)
      expect(size_bytes > 0).toBe(true)
      expect(content).toBeUndefined()
      expect(expires_at === null || expires_at > created).toBe(true)
      expect((await world.send('GET', pathOf(url))).status).toBe(200)
    }
    const found = async (query: string) => (await list(query)).artifacts.length
    const days = [created(all[1]), created(all[3])] as const
    expect(
      await Promise.all(
        [
          '?kind=image',
          '?kind=document',
          '?mime=image/*',
          '?mime=application/pdf',
          '?mime=%25',
          '?q=TIDES%20IN%20c',
          '?q=%25',
          `?from=${days[0]}`,
          `?to=${days[0]}`,
          `?from=${days[1]}&to=${days[0]}`,
        ].map(found),
      ),
    ).toEqual([1, 3, 1, 1, 0, 1, 0, 2, 2, 2])
    const first = await list('?limit=3')
    const second = await list(`?limit=3&cursor=${first.next_cursor}`)
    expect([...first.artifacts, ...second.artifacts].map(({ id }) => id)).toEqual(all.map(({ id }: Artifact) => id))
    expect((await other.send('GET', 'artifacts')).body.artifacts).toEqual([])
    expect(failure(await person.send('GET', 'artifacts?kind=song'))).toEqual([400, 'validation_error'])
  }, 30_000)

  test('is listed by the call and the job that made it, a picture with a thumbnail', async () => {
    const [person, other] = [await world.person({ cents: 1_000 }), await world.person()]
    const document = await person.send('POST', 'documents', { prompt: '# Tides\n\nHigh at noon.', format: 'csv' })
    clock.advance(1_000)
    const video = await person.send('POST', 'video', { prompt: 'a red sailboat', duration: '2s' })
    await world.app.container.jobs.runDue('media.video')
    const { job_id, request_id } = video.body
    const of = async (query: string, who = person) => (await who.send('GET', `artifacts?${query}`)).body.artifacts
    const files = await of(`job_id=${job_id}`)
    expect(files.map(({ type }: { type: string }) => type).sort()).toEqual(['image', 'video'])
    for (const file of files) {
      expect(file).toMatchObject({
        job_id,
        request_id,
        thumbnail_url: file.type === 'image' ? `${file.url}&thumbnail=1` : null,
      })
    }
    const { thumbnail_url } = files.find(({ type }: { type: string }) => type === 'image')
    const { pathname, search } = new URL(thumbnail_url, 'http://localhost')
    const small = await world.app.api.handle(new Request(`http://localhost${pathname}${search}`))
    expect(small.headers.get('content-type')).toBe('image/webp')
    expect((await small.arrayBuffer()).byteLength).toBeWithin(100, 40_001)
    expect(await of(`request_id=${request_id}`)).toEqual(files)
    const made = { job_id: null, request_id: document.body.request_id, thumbnail_url: null }
    expect(await of(`request_id=${document.body.request_id}`)).toMatchObject([made])
    expect(await of(`request_id=${request_id}&job_id=job_none`)).toEqual([])
    expect(await of(`job_id=${job_id}`, other)).toEqual([])
    expect(await of(`request_id=${request_id}`, other)).toEqual([])
    for (const query of [`job_id=${job_id}`, `request_id=${request_id}`]) {
      const seen = await operator('GET', `artifacts?${query}`)
      expect(seen.body.artifacts.map(({ id }: Artifact) => id)).toEqual(files.map(({ id }: Artifact) => id))
    }
  }, 60_000)

  test('is signed again each time it is read', async () => {
    const person = await world.person()
    const { id, url } = await saveFor(world, person, PIXEL)
    clock.advance(1_800_000)
    const again = (await person.send('GET', `artifacts/${id}`)).body
    expect(again.url).not.toBe(url)
    clock.advance(1_800_001)
    expect((await world.send('GET', pathOf(url))).status).toBe(404)
    expect((await world.send('GET', pathOf(again.url))).status).toBe(200)
  })

  test('that is deleted is gone with its bytes, once, on the record', async () => {
    const person = await world.person()
    const bytes = noise(5_000, 7)
    const { id, url } = await saveFor(world, person, bytes)
    await isStored(bytes, 1)
    expect((await person.send('DELETE', `artifacts/${id}`)).body).toMatchObject({ deleted: true })
    expect(failure(await person.send('DELETE', `artifacts/${id}`))).toEqual([404, 'not_found'])
    expect(failure(await person.send('GET', `artifacts/${id}`))).toEqual([404, 'not_found'])
    expect(failure(await world.send('GET', pathOf(url)))).toEqual([404, 'not_found'])
    const audit = (await person.send('GET', `audit?entity_id=${id}`)).body
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(['artifact.deleted'])
    await isStored(bytes, 0)
  })

  test('shares bytes with others of the same content until the last one goes', async () => {
    const [one, other] = [await world.person(), await world.person()]
    const bytes = noise(3_000, 8)
    const [first, second] = [await saveFor(world, one, bytes), await saveFor(world, other, bytes)]
    await isStored(bytes, 1)
    await one.send('DELETE', `artifacts/${first.id}`)
    expect((await world.send('GET', pathOf(second.url))).status).toBe(200)
    await other.send('DELETE', `artifacts/${second.id}`)
    await isStored(bytes, 0)
    expect(await verify()).toEqual([])
  })

  test('survives that many are made and deleted at once with the same bytes', async () => {
    const person = await world.person()
    const bytes = noise(2_000, 9)
    const stored = await saveFor(world, person, bytes)
    const rounds = Array.from({ length: 12 }, async () => {
      const { id } = await saveFor(world, person, bytes)
      await person.send('DELETE', `artifacts/${id}`)
    })
    await Promise.all(rounds)
    expect((await world.send('GET', pathOf(stored.url))).status).toBe(200)
    await isStored(bytes, 1)
    expect(await verify()).toEqual([])
  })

  test.each([
    '..%2f..%2fsecrets.json',
    '%2e%2e%2f',
    '....%2f%2f',
    '%252e',
    '%2fetc%2fpasswd',
    '%00',
    'x'.repeat(9_000),
  ])('cannot be asked for by the path number %# (O4)', async (id) => {
    const reply = await (await world.person()).send('GET', `artifacts/${id}`)
    expect([400, 404]).toContain(reply.status)
    expect((await world.send('GET', `/files/${id}?expires=1&signature=x`)).status).toBe(404)
  })

  test('is read through no link or second name that was planted (O13)', async () => {
    const person = await world.person()
    const { url } = await saveFor(world, person, noise(700, 10))
    const name = find(noise(700, 10))[0]!
    const path = join(world.folder, 'files', name.slice(0, 2), name)
    writeFileSync(join(world.folder, 'planted'), 'secret')
    renameSync(path, `${path}.away`)
    symlinkSync(join(world.folder, 'planted'), path)
    const away = await world.send('GET', pathOf(url))
    expect(failure(away)).toEqual([503, 'storage_unavailable'])
    expect(away.body.error.message).not.toContain('try again')
    renameSync(path, `${path}.link`)
    linkSync(join(world.folder, 'planted'), path)
    expect(failure(await world.send('GET', pathOf(url)))).toEqual([503, 'storage_unavailable'])
    expect(existsSync(path)).toBe(true)
  })
})

describe('what an owner may keep (O14)', () => {
  test('is bounded in files, also when many come at once, and freed by deleting', async () => {
    const small = await createWorld({ clock, config: { filesOwnerCount: 3, filesOwnerMb: 1 } })
    const person = await small.person()
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, at) => saveFor(small, person, noise(100, at + 1))),
    )
    const made = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const refused = tries.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    expect(made).toHaveLength(3)
    for (const reason of refused) {
      expect(reason).toMatchObject({ kind: 'conflict', code: 'conflict' })
      expect(reason.message).toContain('3 files')
    }
    expect(storedIn(small.folder)).toHaveLength(3)
    await person.send('DELETE', `artifacts/${made[0]!.id}`)
    await saveFor(small, person, noise(100, 50))
    await saveFor(small, await small.person(), noise(100, 51))
    expect(await small.app.container.files.verify(small.app.store.read)).toEqual([])
  })

  test('is bounded in bytes, and a file that is too large leaves nothing', async () => {
    const small = await createWorld({ clock, config: { filesOwnerMb: 1 } })
    const person = await small.person()
    await saveFor(small, person, noise(700_000, 1))
    for (const bytes of [noise(700_000, 2), noise(1_100_000, 3)]) {
      const refusal = await saveFor(small, person, bytes).catch((error) => error)
      expect(refusal).toMatchObject({ kind: 'conflict', code: 'conflict' })
      expect(refusal.message).toContain('1 MB')
    }
    expect(storedIn(small.folder)).toHaveLength(1)
    expect(await small.app.container.files.verify(small.app.store.read)).toEqual([])
  })

  test('belongs to the org where its key made it', async () => {
    const [member, outsider] = [await world.person({ ofOrg: true }), await world.person()]
    const { id } = await saveFor(world, member, PIXEL)
    expect((await member.send('GET', `artifacts/${id}`)).status).toBe(200)
    expect((await outsider.send('GET', `artifacts/${id}`)).status).toBe(404)
    expect(ownerOf(member)).toStartWith('org:')
  })
})
