// SQLite only: the database sees nothing of how a clip is marked.
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../support/eventually'
import { temporaryFolder } from '../support/temporary-folder'
import { createWorld } from '../support/world'
import { frameAt, probed, programOf } from './support'
import { CLIP, videoServer } from './video-server'

const ffmpeg = programOf('ffmpeg')
const ffprobe = programOf('ffprobe')
const server = videoServer()
const folder = temporaryFolder('svc-mark-')
const upstream = { videoBaseUrl: server.url, videoApiKey: 'sk-film', videoModel: 'filmer' }
const world = await createWorld({ config: upstream })
const bare = await createWorld({ config: { ...upstream, videoMarker: '' } })

/** A video of the upstream, from its order to its file. */
async function madeIn({ app, person, download }: typeof world, content: Buffer) {
  server.will.content = () => new Response(Uint8Array.from(content), { headers: { 'content-type': 'video/mp4' } })
  const ada = await person()
  const { body } = await ada.send('POST', 'video', { prompt: 'a red sailboat', duration: '2s' })
  const job = await eventually(
    async () => {
      await app.container.jobs.runDue('media.video-upstream')
      return (await ada.send('GET', `jobs/${body.job_id}`)).body
    },
    ({ status }) => status === 'completed' || status === 'failed',
  )
  return { job, bytes: Buffer.from(await (await download(job.result)).arrayBuffer()) }
}

describe.skipIf(!ffmpeg || !ffprobe)('a video of an upstream (docs/api.md 6)', () => {
  test('gets the mark of origin at the bottom on the right, and keeps its pictures and its sound', async () => {
    const source = join(folder, 'source.mp4')
    const made = ['-f', 'lavfi', '-i', 'color=c=0x707070:s=1280x720:d=1:r=12', '-f', 'lavfi', '-i', 'sine=d=1']
    const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', source]
    expect(await Bun.spawn([ffmpeg!, '-v', 'error', ...made, ...codecs]).exited).toBe(0)
    const { job, bytes } = await madeIn(world, Buffer.from(await Bun.file(source).arrayBuffer()))
    expect(job.result_data).not.toHaveProperty('warnings')
    const clip = join(folder, 'marked.mp4')
    await Bun.write(clip, bytes)
    const { streams, format } = await probed(ffprobe!, clip)
    expect(streams.map(({ codec_name }) => codec_name).sort()).toEqual(['aac', 'h264'])
    expect(streams[0]).toMatchObject({ width: 1280, height: 720, nb_frames: '12' })
    expect(format.tags.comment).toBe('AI-generated')
    const frame = await frameAt(ffmpeg!, clip, 0.5, 1280, 720)
    const corner = Array.from({ length: 40 }, (_, y) => [
      ...frame.subarray((665 + y) * 1280 + 1100, (665 + y) * 1280 + 1270),
    ])
    expect(corner.flat().filter((pixel) => pixel > 200).length).toBeGreaterThan(150)
    expect(corner.flat().filter((pixel) => pixel < 80).length).toBeGreaterThan(800)
    expect(frame.subarray(0, 600 * 1280).every((pixel) => Math.abs(pixel - 112) < 16)).toBe(true)
  }, 60_000)

  test('that cannot be read is kept as it came, and says so; nothing stays behind', async () => {
    const { job, bytes } = await madeIn(world, CLIP)
    expect(bytes.equals(CLIP)).toBe(true)
    expect(job.result_data.warnings).toEqual([expect.stringContaining('could not mark this video')])
    expect(readdirSync(join(world.folder, 'files')).filter((name) => name === 'incoming')).toHaveLength(1)
    expect(readdirSync(join(world.folder, 'files', 'incoming'))).toEqual([])
  }, 60_000)
})

test('without the program a video is kept as it came, and says so', async () => {
  const { job, bytes } = await madeIn(bare, CLIP)
  expect(bytes.equals(CLIP)).toBe(true)
  expect(job.result_data.warnings).toHaveLength(1)
}, 60_000)
