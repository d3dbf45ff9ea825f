#!/usr/bin/env bun
import { bundled } from '../src/app/bundle'

const { enter }: typeof import('./enter') = await import(bundled('cli.js') ?? './enter')

await enter(process.argv.slice(2))
