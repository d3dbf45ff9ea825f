#!/usr/bin/env bun
import { bundled } from '../src/app/bundle'

const made = bundled('cli.js')
const { enter }: typeof import('./entry') = await import(made ?? './entry')

await enter(process.argv.slice(2), made)
