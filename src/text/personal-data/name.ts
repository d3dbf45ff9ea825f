import type { TextSpan } from '../span'
import { type Find, follows } from './kind'

const PART = "\\p{Lu}(?:[\\p{L}\\p{M}]|['’-](?=\\p{L})){1,24}"
const LINK = '(?:(?:van|von|de|der|den|del|della|di|da|dos|la|le|al|bin|ibn|zu|ter|y|Mc|O’|[A-Z]\\.)[ ])'
const NAME = `${PART}(?:[ ]${LINK}{0,2}${PART}){0,3}`

/** A name behind a form of address or an introduction. */
const INTRODUCED = new RegExp(
  `(?:\\b(?:[Mm]y name is|[Nn]ame:|I am called|Mr\\.?|Mrs\\.?|Ms\\.?|Miss|Dr\\.?|Prof\\.?|Sir|Herrn?|Frau|[Ii]ch hei(?:ß|ss)e|Monsieur|Madame|M\\.|Mme\\.?|[Jj]e m’appelle|[Jj]e m'appelle|Señora?|Sra?\\.|[Mm]e llamo|Signora?|[Mm]i chiamo|[Mm]eu nome é|[Pp]atient(?:in)?:?|[Dd]ear|[Dd]e heer|[Mm]evrouw|[Mm]ijn naam is|[Nn]azywam się|[Mm]enya zovut)|(?<!\\p{L})(?:[Мм]еня зовут|Господин|Госпожа))[ ]+(${NAME})(?![\\p{L}\\p{M}])`,
  'gu',
)
const HONORIFIC_AFTER =
  /(?<![\p{L}\p{M}])([\p{Script=Han}]{1,4}|[\p{Script=Katakana}ー]{2,10})(?:さん|様|先生|女士|小姐)/gu
const PAIR = new RegExp(`(?<![\\p{L}\\p{M}.])(${PART})[ ]${LINK}{0,2}${PART}(?![\\p{L}\\p{M}])`, 'gu')

/** Capitalised words behind `Dear` and the like that name nobody. */
const NOBODY =
  /^(?:Sir|Madam|All|Team|Customer|Colleagues?|Friends?|Diary|God|Lord|Students?|Everyone|Reader|Damen|Herren|Support|Hiring|Committee|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b/

/** Common given names; a capitalised word behind one is taken for a family name. */
const GIVEN = new Set(
  `Aaron Adam Adrian Ahmed Aisha Alan Alberto Alejandro Alex Alexander Alexandra Alice Ali Amanda Amelia Amy Ana Anastasia
   Andrea Andreas Andrew Andrzej Angela Anita Anja Anna Anne Annika Anthony Antoine Antonio Arthur Astrid Ayşe Barbara
   Beatriz Benjamin Bernd Bianca Birgit Brian Camille Carla Carlos Carmen Caroline Catherine Céline Charles Charlotte
   Chiara Chloé Christian Christina Christine Christopher Claire Claudia Clara Daniel Daniela David Deborah Denise Diana
   Diego Dieter Dimitri Dmitri Dominik Dorothy Edward Elena Eleanor Elif Elisabeth Elizabeth Ella Emily Emma Emre Eric
   Erik Ernst Eva Fatima Felix Fernando Finn Florian François Frank Franziska Frederik Gabriel Gabriela Gary George
   Georg Giorgio Giovanni Giulia Grace Greta Hannah Hans Harald Heather Heidi Heike Helen Helena Henrik Henry Hiroshi
   Ian Ibrahim Igor Ines Ingrid Irina Isabel Isabella Ivan Jack Jacob Jakub James Jan Jana Jane Javier Jennifer Jens
   Jessica Joana João John Jonas Jonathan Jorge José Joseph Joshua Juan Julia Julian Julie Jürgen Karen Karin Karl
   Katarzyna Katharina Katrin Kenji Kevin Khalid Kirsten Klaus Laura Lars Lea Lena Leon Leonardo Leyla Liam Linda Lisa
   Louis Louise Luca Lucas Lucia Lucy Luis Luisa Łukasz Lukas Małgorzata Manuel Marc Marcel Marco Marcos Margaret Maria
   María Marie Mario Marion Mark Markus Marta Martin Martina Mary Mateusz Matteo Matthew Matthias Max Maximilian Mehmet
   Melanie Michael Michaela Michał Michelle Miguel Mikhail Mohamed Mohammed Monika Moritz Mustafa Nadia Nancy Natalia
   Natalie Nathalie Nicole Nicolas Nikolai Nina Nora Olaf Oleg Olga Oliver Olivia Omar Oscar Pablo Patricia Patrick Paul
   Paula Paulo Pavel Pedro Peter Petra Philip Philipp Pierre Piotr Priya Rachel Rafael Rahul Ralf Rebecca Renate Ricardo
   Richard Rita Robert Roberto Ronald Rosa Ruth Ryan Samuel Sandra Sara Sarah Sebastian Sergei Sergio Silvia Simon Simone
   Sofia Sophia Sophie Stefan Stefanie Stephan Stephanie Stephen Steven Susan Susanne Sven Sylvie Tanja Tatiana Teresa
   Thomas Tim Tobias Tomasz Tom Ulrich Ulrike Ursula Valentina Vanessa Vera Victor Victoria Vincent Viktor Vladimir
   Walter Wei William Wolfgang Xavier Yasmin Yuki Yusuf Zeynep Zoe`.split(/\s+/),
)
/** Places named after a person: `Paul Street`, `Victoria Station`. */
const PLACES =
  /\b(?:Street|Road|Avenue|Station|University|College|Hospital|School|Park|Bridge|Airport|Museum|Church|Lake|Falls|Island|Prize|Day|Award|Stadium|Theatre|Tower|Straße|Platz)$/

/** Names of persons, by the words around them and by common given names; a name by itself is not recognised. */
export const findPersons: Find = (text) => {
  const found: TextSpan[] = []
  const add = (start: number, name: string) => {
    if (!NOBODY.test(name) && !PLACES.test(name)) found.push({ start, end: start + name.length })
  }
  for (const hit of text.matchAll(INTRODUCED)) add(hit.index + hit[0].length - hit[1]!.length, hit[1]!)
  for (const hit of text.matchAll(HONORIFIC_AFTER)) add(hit.index, hit[1]!)
  for (const { 0: name, 1: given, index } of text.matchAll(PAIR)) {
    if (GIVEN.has(given!) && !follows(text, index, /\b(?:the|St\.?|Saint)\s$/i, 8)) add(index, name)
  }
  return found
}
