import { closeSync, openSync, writeSync } from 'node:fs'
import { clean } from '../src/kernel/text'
import { EXIT } from './exit'
import { CommandFailed, usageFailure } from './failure'

/** Asks questions on the terminal device, so that stdin and stdout stay free for data (dx 2.6). */
export type Prompt = {
  /** True when the answer is yes. @throws CommandFailed 2 when nobody can be asked: "add --yes". */
  confirm(question: string): boolean
  /**
   * True when the user typed the name of what will be deleted, or gave it as `--confirm`; `--yes` is not enough.
   * @throws CommandFailed 2 when nobody can be asked: "add --confirm NAME"
   */
  confirmName(question: string, name: string): boolean
  /** Reads a line. @throws CommandFailed 2 when nobody can be asked. */
  line(label: string, instead: string): string
  /** Reads a line without echo. @throws CommandFailed 2 when nobody can be asked. */
  secret(label: string, instead: string): string
}

type Options = { yes: boolean; named?: string | undefined; mayAsk: boolean; terminal?: string }

export function createPrompt({ yes, named, mayAsk, terminal = '/dev/tty' }: Options): Prompt {
  const ask = <T>(instead: string, conversation: (tty: number) => T): T => {
    const tty = mayAsk ? openTerminal(terminal) : null
    if (tty === null) throw usageFailure('This command asks a question, but there is no terminal to ask on.', instead)
    try {
      return conversation(tty)
    } finally {
      closeSync(tty)
    }
  }
  return {
    confirm: (question) => yes || ask('add --yes', (tty) => isYes(say(tty, `${clean(question)} [y/N] `))),
    confirmName: (question, name) => {
      if (named !== undefined) return named === name
      const words = `${clean(question)}\nType ${clean(name)} to continue: `
      return ask(`add --confirm ${clean(name)}`, (tty) => say(tty, words).trim() === name)
    },
    line: (label, instead) => ask(instead, (tty) => say(tty, `${clean(label)}: `).trim()),
    secret: (label, instead) => ask(instead, (tty) => hidden(tty, label)),
  }
}

const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer.trim())

function hidden(tty: number, label: string): string {
  echo('-echo')
  try {
    return say(tty, `${clean(label)} (hidden): `).trim()
  } finally {
    echo('echo')
    writeSync(tty, '\n')
  }
}

/** Switches echo with `stty`, which needs the terminal as its stdin. */
function echo(setting: 'echo' | '-echo'): void {
  Bun.spawnSync(['stty', setting], { stdin: Bun.file('/dev/tty'), stdout: 'ignore', stderr: 'ignore' })
}

/** The child that asks: it prints the question on the terminal it reads from. */
const ASKER = 'printf %s "$1" >&0; exec head -n 1'

/**
 * Asks for one line. A child prints the question and reads the answer, because a blocked read of our own would keep
 * Ctrl-C waiting until Enter: the child is there before anyone sees the question, and dies of Ctrl-C at once.
 * @throws CommandFailed 130
 */
function say(tty: number, text: string): string {
  const { stdout, signalCode } = Bun.spawnSync(['sh', '-c', ASKER, 'sh', text], {
    stdin: tty,
    stdout: 'pipe',
    stderr: 'ignore',
  })
  if (signalCode) {
    const message = 'Interrupted. Nothing was changed.'
    throw new CommandFailed({ exitCode: EXIT.interrupted, code: 'interrupted', message })
  }
  return stdout.toString().replace(/\r?\n$/, '')
}

/** Null when the process has no terminal, as under cron. */
function openTerminal(path: string): number | null {
  try {
    return openSync(path, 'r+')
  } catch {
    return null
  }
}
