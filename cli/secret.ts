import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { CommandFailed, EXIT, usageFailure } from './failure'
import { readTextFile } from './files'
import { formatOf } from './globals'
import type { Column } from './output/columns'
import type { JsonObject } from './output/json'
import type { Shell } from './shell'
import { fromHere } from './transport'
import { flag, text } from './words'

/** Flags of the commands that create a secret (docs/operating.md 2.7). */
export const SECRET_FLAGS = {
  secretTo: text('FILE', 'write the secret to a file that only you can read; - means stdout'),
  copy: flag('copy the secret to the clipboard through the terminal, instead of printing it'),
}

export type Methods = { secretTo: string | undefined; copy: boolean | undefined }

/** Sentences on how the secret is stored: after it was shown, and after it was written to a file. */
export type Fate = { shown: string; put: string }
const HASHED: Fate = {
  shown: 'The server stores only its hash.',
  put: 'The server stores only its hash, so it cannot be shown again.',
}
/** A signing secret is stored readable, because the server signs with it. */
export const SIGNING_FATE: Fate = {
  shown: 'Stored encrypted.',
  put: 'The server stores it encrypted, and it cannot be shown again.',
}
/** A link that signs in. */
export const LINK_FATE: Fate = {
  shown: 'It works once. Anyone who opens it is signed in as this person.',
  put: 'It works once, and cannot be shown again.',
}

type Secret = {
  /** The member of the answer that holds the secret. */
  field: string
  methods: Methods
  columns: readonly Column[]
  fate?: Fate | undefined
}

/**
 * Creates something with a secret, prints it and delivers its secret once. Prepares the delivery first, so that no
 * undeliverable secret is created. Returns the created object.
 * @throws CommandFailed when the file already exists or the terminal cannot copy
 */
export async function deliverSecret<Made extends object>(
  shell: Shell,
  { field, methods: { secretTo, copy }, columns: all, fate = HASHED }: Secret,
  make: () => Promise<Made>,
): Promise<Made> {
  if (copy && !shell.io.errIsTty) throw usageFailure('--copy needs a terminal.', 'use --secret-to FILE')
  const path = secretTo && secretTo !== '-' ? fromHere(shell.cwd, secretTo) : null
  const file = path === null ? null : openNewFile(path, 'Nothing was created.', '--secret-to another file')
  const made = await make().catch((error: unknown) => {
    if (file !== null && path !== null) {
      closeSync(file)
      rmSync(path)
    }
    throw error
  })
  const { [field]: secret, ...rest } = made as JsonObject
  const columns = all.filter((column) => column.field !== field)
  if (file !== null) {
    writeSync(file, `${secret}\n`)
    closeSync(file)
    if (shell.globals.quiet && formatOf(shell.globals) === 'table') shell.io.out(String(rest.id))
    else shell.print.item(rest, columns)
    shell.note(`The secret is in ${path}. ${fate.put}`)
  } else if (copy) {
    // OSC 52: the terminal copies it to the user's clipboard.
    const encoded = Buffer.from(String(secret)).toString('base64')
    shell.io.err(`\u001b]52;c;${encoded}\u0007The secret was sent to the clipboard.`)
    shell.print.item(rest, columns)
  } else if (['table', 'wide'].includes(formatOf(shell.globals))) {
    const { quiet } = shell.globals
    if (!quiet) shell.print.item(rest, columns)
    shell.io.out(quiet ? String(secret) : `\n${secret}`)
    shell.note(`Shown once. ${fate.shown}`)
  } else {
    const isCsv = formatOf(shell.globals) === 'csv'
    shell.print.item(made, isCsv ? [...all, { field: 'key', header: 'KEY' }] : all)
  }
  return made
}

/** Opens a new file that only its owner can read. @throws CommandFailed 5 if it already exists */
export function openNewFile(path: string, undone: string, fix: string): number {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`
    throw new CommandFailed({ exitCode: EXIT.conflict, code: 'conflict', message: `${path} ${why}. ${undone}`, fix })
  }
}

type SecretInput = { label: string; fromFile: string | undefined; instead: string }

/** Reads a secret from a file, from stdin or typed without echo; never from a flag's value (docs/operating.md 2.3). */
export async function readSecretInput(shell: Shell, { label, fromFile, instead }: SecretInput): Promise<string> {
  const secret =
    fromFile === undefined ? shell.prompt.secret(label, instead) : (await readTextFile(shell, fromFile)).trim()
  if (!secret) throw usageFailure(`The ${label} is empty.`, instead)
  return secret
}
