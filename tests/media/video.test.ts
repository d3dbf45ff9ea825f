import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { onTerms, under } from '../guardrails/support'
import { eventually } from '../support/eventually'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld, type Person } from '../support/world'
import { frameAt, probed, programOf } from './support'

// Real work on threads, perhaps beside much else.
setDefaultTimeout(90_000)

const [ffprobe, ffmpeg] = [programOf('ffprobe'), programOf('ffmpeg')]
const chromium = programOf('chromium', 'chromium-headless-shell')
const folder = temporaryFolder('svc-video-')

const world = await createWorld()
const { jobs } = world.app.container
const input = { prompt: 'a red sailboat on the sea at sunset', duration: '2s', aspect_ratio: '4:3' }
const start = (person: Person, body: object) => person.send('POST', 'video', body)
const jobOf = async (person: Person, id: string) => (await person.send('GET', `jobs/${id}`)).body
const bytesAt = async (url: string) => new Uint8Array(await (await world.download(url)).arrayBuffer())

const ada = await world.person({ cents: 100 })
const accepted = await start(ada, input)
await jobs.runDue('media.video')
const job = await jobOf(ada, accepted.body.job_id)
const clip = join(folder, 'clip.mp4')
await Bun.write(clip, await bytesAt(job.result))

describe('POST /video (docs/api.md 6, 7)', () => {
  test('answers 202 with a job, whose result is the address of a file', async () => {
    expect(accepted.status).toBe(202)
    expect(accepted.body).toMatchObject({
      id: expect.stringMatching(/^vid_[0-9A-Za-z]{24}$/),
      object: 'video',
      status: 'queued',
      poll_url: `/api/v1/jobs/${accepted.body.job_id}`,
    })
    expect(job).toMatchObject({
      type: 'video',
      status: 'completed',
      progress: 100,
      error: null,
      usage: { cost_cents: 0 },
      result_data: {
        url: job.result,
        mime_type: 'video/mp4',
        duration_seconds: 2,
        width: 960,
        height: 720,
        engine: 'svc-local-vector',
      },
    })
    const actions = (await ada.send('GET', 'audit')).body.map(({ action }: { action: string }) => action)
    expect(actions).toContain('video.created')
    expect(actions).toContain('job.completed')
  })

  test('has a still, which is a picture of its own', async () => {
    const { body } = await ada.send('GET', `artifacts/${job.result_data.poster_artifact_id}`)
    expect(body).toMatchObject({ type: 'image', mime_type: 'image/png', width: 960, height: 720 })
    expect([...(await bytesAt(body.url)).subarray(1, 4)]).toEqual([...Buffer.from('PNG')])
  })

  test('begins with its index, so that it plays while it loads', async () => {
    const head = Buffer.from(await Bun.file(clip).slice(0, 200_000).arrayBuffer())
    expect(head.toString('latin1', 4, 8)).toBe('ftyp')
    expect(head.indexOf('moov', 0, 'latin1')).toBeLessThan(head.indexOf('mdat', 0, 'latin1'))
  })

  test.skipIf(!ffprobe)('is an MP4 of 15 frames a second, which says how it was made', async () => {
    const { streams, format } = await probed(ffprobe!, clip)
    expect(streams).toEqual([
      expect.objectContaining({ codec_name: 'h264', pix_fmt: 'yuv420p', width: 960, height: 720, nb_frames: '30' }),
    ])
    expect(Number(format.duration)).toBeCloseTo(2, 1)
    expect(format.tags.comment).toContain('AI-generated')
  })

  test.skipIf(!ffmpeg)('moves, and has a mark at the bottom on the right in every frame', async () => {
    const [early, late] = await Promise.all([frameAt(ffmpeg!, clip, 0.2, 96, 72), frameAt(ffmpeg!, clip, 1.8, 96, 72)])
    expect(early.filter((pixel, at) => Math.abs(pixel - late[at]!) > 12).length).toBeGreaterThan(96)
    for (const at of [0, 1, 1.8]) {
      const frame = await frameAt(ffmpeg!, clip, at, 960, 720)
      // Letters are nearly white on a dark ground.
      const corner = Array.from({ length: 40 }, (_, y) => frame.subarray((665 + y) * 960 + 820, (665 + y) * 960 + 940))
      const all = corner.flatMap((row) => [...row])
      expect(all.filter((pixel) => pixel > 200).length).toBeGreaterThan(150)
      expect(all.filter((pixel) => pixel < 110).length).toBeGreaterThan(800)
    }
  })

  test.skipIf(!chromium)(
    'is played by Chromium to its end',
    async () => {
      const ended = Promise.withResolvers<{ time: number; width: number; shade: number[] }>()
      const page = `<video muted src="/clip.mp4"></video><script>
      const video = document.querySelector('video'), canvas = document.createElement('canvas')
      canvas.width = 64; canvas.height = 48
      video.onended = () => {
        const context = canvas.getContext('2d')
        context.drawImage(video, 0, 0, 64, 48)
        const shade = [...context.getImageData(32, 30, 1, 1).data]
        fetch('/ended', { method: 'POST', body: JSON.stringify({ time: video.currentTime, width: video.videoWidth, shade }) })
      }
      video.onerror = () => fetch('/ended', { method: 'POST', body: JSON.stringify({ time: -1, problem: video.error.message }) })
      video.play()
    </script>`
      const server = Bun.serve({
        port: 0,
        hostname: '127.0.0.1',
        async fetch(request) {
          const { pathname } = new URL(request.url)
          if (pathname === '/clip.mp4') return new Response(Bun.file(clip))
          if (pathname === '/ended') ended.resolve((await request.json()) as never)
          return new Response(page, { headers: { 'content-type': 'text/html' } })
        },
      })
      const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--autoplay-policy=no-user-gesture-required']
      const profile = `--user-data-dir=${join(folder, 'profile')}`
      const child = Bun.spawn([chromium!, ...flags, profile, '--remote-debugging-port=0', server.url.href], {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      try {
        const { time, width, shade } = await ended.promise
        expect(time).toBeCloseTo(2, 0)
        expect(width).toBe(960)
        expect(shade[3]).toBe(255)
      } finally {
        child.kill('SIGKILL')
        await child.exited
        server.stop(true)
      }
    },
    60_000,
  )
})

describe('what is refused', () => {
  test.each([
    [{}, 'missing_prompt', 'prompt'],
    [{ prompt: ' ' }, 'missing_prompt', 'prompt'],
    [{ prompt: 'x', duration: '61s' }, 'validation_error', 'duration'],
    [{ prompt: 'x', duration: '0s' }, 'validation_error', 'duration'],
    [{ prompt: 'x', duration: 5 }, 'validation_error', 'duration'],
    [{ prompt: 'x', aspect_ratio: '100000:1' }, 'validation_error', 'aspect_ratio'],
  ])('%j is 400 %s', async (body, code, param) => {
    const { status, body: answer } = await start(ada, body)
    expect({ status, code: answer.error.code, param: answer.error.param }).toEqual({ status: 400, code, param })
  })

  test('what the policy of the key blocks', async () => {
    const eve = await world.person()
    await under(eve, [onTerms('input', 'block', ['sailboat'])])
    expect((await start(eve, input)).body.error.code).toBe('guardrail_blocked')
  })

  test('more than the rate of videos allows', async () => {
    const eve = await world.person({ tier: 'free' })
    const answers = await Promise.all(Array.from({ length: 11 }, () => start(eve, { prompt: 'x', duration: '1s' })))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(10)
    expect(answers.find(({ status }) => status === 429)!.body.error.code).toBe('mode_rate_limit_exceeded')
    for (const { status, body } of answers) if (status === 202) await eve.send('POST', `jobs/${body.job_id}/cancel`)
  })
})

test('a cancelled video stops at once, and leaves the thread to the next', async () => {
  const eve = await world.person()
  const loop = jobs.start()
  try {
    const { body } = await start(eve, { prompt: 'a castle on a hill', duration: '60s' })
    await eventually(async () => (await jobOf(eve, body.job_id)).progress > 0)
    const cancelled = await eve.send('POST', `jobs/${body.job_id}/cancel`)
    expect(cancelled.body).toMatchObject({ status: 'failed', error: 'cancelled', result: null })
    // On this one thread it would otherwise wait for the minute of film.
    const next = await start(eve, { prompt: 'a cat', duration: '1s' })
    await eventually(async () => (await jobOf(eve, next.body.job_id)).status === 'completed')
    expect((await jobOf(eve, body.job_id)).status).toBe('failed')
  } finally {
    await loop.stop()
  }
}, 60_000)
