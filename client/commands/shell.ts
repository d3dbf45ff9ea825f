/** What a command may touch: tests hand in their own. */
export type SvcShell = {
  env: Readonly<Record<string, string | undefined>>
  /** The folder that the command was typed in. */
  cwd: string
  out(line: string): void
  err(line: string): void
}

/** A command that did not do what was asked: one line says why. */
export class CommandFailure extends Error {
  override name = 'CommandFailure'
}
