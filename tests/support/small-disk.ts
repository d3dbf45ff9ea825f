import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A disk of `megabytes` in memory, mounted where only processes begun with `command` see it, so nothing is left on this
 * machine. Null, with the reason printed, where this user may not mount one.
 */
export async function mountSmallDisk(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'))
  const script = `mount -t tmpfs -o size=${megabytes}m tmpfs '${folder}' && echo mounted && exec sleep infinity`
  const holder = await begin(['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script])
  if (!holder) {
    rmSync(folder, { recursive: true })
    process.stdout.write('no disk can be mounted here (unshare, mount): a full disk is not tested\n')
    return null
  }
  process.on('exit', () => holder.kill())
  /** The same folder as this process sees it. */
  const seen = `/proc/${holder.pid}/root${folder}`
  const filler = join(seen, 'filler')
  return {
    folder,
    seen,
    /** The command as it must be called to see the disk. */
    command: (...words: string[]) => [
      ...['nsenter', '--target', String(holder.pid), '--user', '--mount', '--preserve-credentials'],
      ...words,
    ],
    /** Leaves room for so many bytes: for none, not one more page fits. */
    fill(left = 0): void {
      for (const bytes of [64 * 1024, 4096]) {
        try {
          for (;;) writeFileSync(filler, new Uint8Array(bytes), { flag: 'a' })
        } catch (error) {
          if ((error as { code?: string }).code !== 'ENOSPC') throw error
        }
      }
      truncateSync(filler, statSync(filler).size - left)
    },
    makeRoom: () => rmSync(filler),
    async remove(): Promise<void> {
      holder.kill()
      await holder.exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The process once it has printed its first line; null when it ended without one. */
async function begin(command: string[]) {
  if (!Bun.which(command[0]!) || !Bun.which('nsenter')) return null
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  const { done } = await child.stdout.getReader().read()
  return done ? null : child
}
