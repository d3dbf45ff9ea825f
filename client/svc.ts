#!/usr/bin/env bun
import { runSvc } from './commands'

process.exitCode = await runSvc(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
})
