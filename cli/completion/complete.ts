import type { Command } from '../command'
import type { Globals } from '../globals'
import type { Io } from '../io'
import { createShell, type World } from '../shell'
import { type Candidate, nextOf } from './candidates'

/** Longest wait for a server's names; after it there are none. */
const PATIENCE_MS = 150
const MOST_NAMES = 50

/**
 * Prints what may stand at the cursor, `word<TAB>about` a line each (dx 2.20). It never fails and never asks: what is
 * typed may be half a command.
 */
export async function complete(words: readonly string[], commands: readonly Command[], world: World): Promise<void> {
  const { candidates, listed } = nextOf(words, commands)
  const names = listed ? await namesOf(listed, commands, world) : []
  const typed = words.at(-1) ?? ''
  for (const { word, about } of [...candidates, ...names.filter((name) => name.word.startsWith(typed))])
    world.io.out(`${word}\t${about}`)
}

/** The first page of a noun's list, from a server that runs. */
async function namesOf(list: Command, commands: readonly Command[], world: World): Promise<Candidate[]> {
  const lines: string[] = []
  const io: Io = { ...world.io, out: (line) => lines.push(line), raw: () => undefined, err: () => undefined }
  const globals = { output: 'jsonl', quiet: true, noInput: true } as Globals
  // A list that must not open the data folder asks the server or nobody.
  const asking: Command = { ...list, offline: false }
  const shell = createShell({ ...world, io }, globals, asking, commands)
  const given = Object.fromEntries(Object.keys(list.args).map((name) => [name, undefined]))
  const asked = list.run(shell, given).catch(() => undefined)
  await Promise.race([asked, world.clock.sleep(PATIENCE_MS, world.signal)])
  return lines.slice(0, MOST_NAMES).flatMap(nameIn)
}

function nameIn(line: string): Candidate[] {
  const { id, slug, name, title } = JSON.parse(line) as Record<string, unknown>
  const word = slug ?? id
  return typeof word === 'string'
    ? [{ word, about: [name, title].find((one) => typeof one === 'string') ?? '' } as Candidate]
    : []
}
