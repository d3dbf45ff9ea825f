#!/usr/bin/env bun
import { bundled } from '../src/app/bundle'

const made = bundled('cli.js')
const { enter }: typeof import('./enter') = await import(made ?? './enter')

await enter(process.argv.slice(2), made)
