/** A program that a test needs; where it is missing, the test says so and is skipped. */
export function programOf(...names: string[]): string | null {
  const path = names.map((name) => Bun.which(name)).find(Boolean) ?? null
  if (!path) process.stderr.write(`${names.join(' or ')} is not installed; tests that need it are skipped\n`)
  return path
}

/** What ffprobe says of a file. Throws when it cannot read it. */
export async function probed(ffprobe: string, path: string) {
  const entries = 'stream=codec_name,pix_fmt,width,height,nb_frames,avg_frame_rate:format=duration:format_tags'
  const child = Bun.spawn([ffprobe, '-v', 'error', '-show_entries', entries, '-of', 'json', path], { stderr: 'pipe' })
  const [notice, problems] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0 || problems) throw new Error(problems)
  return JSON.parse(notice) as {
    streams: { codec_name: string; width: number; height: number; nb_frames: string; pix_fmt: string }[]
    format: { duration: string; tags: Record<string, string> }
  }
}

/** One frame of a clip as grey pixels of a size, at a moment in seconds. */
export async function frameAt(ffmpeg: string, path: string, at: number, width: number, height: number) {
  const args = ['-v', 'error', '-i', path, '-ss', `${at}`, '-frames:v', '1', '-vf', `scale=${width}:${height}`]
  const child = Bun.spawn([ffmpeg, ...args, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'], { stderr: 'pipe' })
  const pixels = new Uint8Array(await new Response(child.stdout).arrayBuffer())
  if ((await child.exited) !== 0 || pixels.length !== width * height) throw new Error('no such frame')
  return pixels
}
