#!/usr/bin/env python3
"""Replays a term of a course: undisturbed, and again killed at random moments and resumed. Both replays must end with
the same gradebook and the same grades, exports and pages.

    CONVLAB_BUILD=build term.py [N [KILLS [SEED]]]      (default: 200 students, 10 kills, a fresh seed)
    CONVLAB_BUILD=build term.py --small                 (in make test: 6 students, 2 kills)

A term has four downloads in the forms of four platforms (term_downloads.py), deadlines with extensions and slip days,
submission times, a second hand-in and a regrade, manual points by worksheet, final grades, all exports, feedback and
the class's page. All is graded with --quick and one image. submissions.py makes the submissions: the right ones must
pass.
"""
import csv
import difflib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(f'{HERE}/../../..')
BUILD = os.path.abspath(os.environ.get('CONVLAB_BUILD', 'build'))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import term_downloads  # noqa: E402

GRADER = f'{BUILD}/grader'
RECORDS = ['gradescope', 'autolab', 'classroom50', 'check50', 'prairielearn', 'junit']
KILL = -signal.SIGKILL
MOST_MEMORY = 64  # MiB of a command, without the graders that it starts
RUNNER = {'CLASSROOM': 'c1', 'ASSIGNMENT': 'm1', 'ASSIGNMENT_TYPE': 'individual', 'OWNER': 'uni', 'SUBMISSION_TAG': 'submit/1',
          'COMMIT_URL': 'https://github.com/uni/a/commit/1', 'RELEASE_URL': 'https://github.com/uni/a/releases/1',
          'REVIEW_URL': 'https://github.com/uni/a/pull/1', 'COMMITTED_AT': '2026-10-10T10:00:00Z'}  # Classroom 50's
                                                                                                    # variables
tested, good = 0, 0


def claim(text, holds, why=''):
    global tested, good
    tested += 1
    good += bool(holds)
    if not holds:
        print(f'FAILED: {text}', *([why] if why else []), sep='\n')


# ---- the term --------------------------------------------------------------------------------------------------------

def steps(term, seed, sandbox):
    """The commands of a term: (description, arguments, accepted exit statuses). A function runs no command."""
    downloads = term.downloads
    def grade(k, *more):
        folder, milestone = downloads[k].folder, downloads[k].milestone
        return (f'class {folder}', ['class', folder, '--milestones', milestone, '--gradebook', 'term.db', '--quick', '--images',
                '1', '--seed', seed, '--jobs', '2', '--device', 'virtual', *sandbox, *more], (0,))
    def tool(name, *arguments, statuses=(0,)):
        return name, [name, *arguments], statuses
    yield grade(0, '--roster', 'roster.csv', '--deadlines', 'deadlines.yaml')
    yield grade(1)
    yield tool('late', '--gradebook', 'term.db', '--deadlines', 'deadlines-2.yaml', statuses=(0, 2))
    for k in range(2, len(downloads)):
        yield grade(k, '--page', 'class.html')
    for k in (0, 1, 3):
        yield tool('late', '--gradebook', 'term.db', '--times', downloads[k].times, '--milestone', downloads[k].milestone,
                   '--zone', '+01:00', statuses=(0, 2))
    yield 'the students hand in again', term.hand_in_again, (0,)
    yield grade(0, '--page', 'class.html')
    yield grade(1, '--regrade', '--only', ','.join(term.regraded))
    yield tool('worksheet', '--gradebook', 'term.db', '--out', 'worksheet')
    yield 'the instructor fills the worksheet in', fill_worksheet, (0,)
    yield tool('manual', '--gradebook', 'term.db', '--import', 'filled.csv')
    yield tool('manual', '--gradebook', 'term.db', term.people[0].login, '-', 'style', '4')
    yield tool('final', '--gradebook', 'term.db', '--unchecked', 'omit', '--out', 'final.tsv')
    milestones = sorted({d.milestone for d in downloads})
    for form in RECORDS:
        yield tool('export', form, '--gradebook', 'term.db', '--out', f'exported-{form}')
    yield tool('export', 'csv', '--gradebook', 'term.db', '--out', 'exported.csv')
    for form in ('canvas', 'moodle'):
        yield tool('export', form, '--gradebook', 'term.db', '--unchecked', 'omit', '--out', f'{form}.csv')
    for milestone in milestones:
        yield tool('export', 'moodle-worksheet', '--gradebook', 'term.db', '--unchecked', 'lost', '--milestone', milestone, '--out',
                   f'worksheet-{milestone}.csv')
    yield tool('feedback', '--gradebook', 'term.db', '--out', 'feedback')
    yield tool('overview', '--gradebook', 'term.db', '--out', 'class.html')
    yield tool('rank', '--gradebook', 'term.db', '--html', 'board.html')
    yield tool('similar', '--gradebook', 'term.db', '--out', 'similar.html', '--table', 'similar.tsv')


def fill_worksheet():
    """Enters points for all open items except every ninth, and some comments, always the same for a worksheet."""
    rows = list(csv.DictReader(open('worksheet/worksheet.csv', encoding='utf-8-sig')))
    with open('filled.csv', 'w', encoding='utf-8', newline='') as file:
        out = csv.DictWriter(file, ['submission', 'milestone', 'item', 'points', 'comment'])
        out.writeheader()
        for i, row in enumerate(rows):
            if i % 9 and row['most']:
                out.writerow({'submission': row['submission'], 'milestone': row['milestone'], 'item': row['item'],
                              'points': (i * 7) % (int(float(row['most'])) + 1), 'comment': 'Why, "exactly"?' if i % 5 == 0 else ''})


# ---- running and killing ---------------------------------------------------------------------------------------------

def graders_of(folder):
    """@return the graders that write into a gradebook's folder."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            command = open(f'/proc/{pid}/cmdline', 'rb').read().replace(b'\0', b' ')
        except OSError:
            continue
        if f'--json {folder}/term.db.files/'.encode() in command:
            yield int(pid)


def memory_of(pid):
    """@return the largest memory in MiB that a process has held, 0 after its end."""
    try:
        return int(re.search(r'VmHWM:\s*(\d+) kB', open(f'/proc/{pid}/status').read()).group(1)) / 1024
    except (OSError, AttributeError):
        return 0


def run(step, log, kill_after=None):
    """Runs a step. @return its exit status (KILL if it was killed after this many seconds), and its memory in MiB"""
    _, command, _ = step
    if callable(command):
        command()
        return 0, 0
    process = subprocess.Popen([GRADER, *command], stdout=log, stderr=log, env={**os.environ, **RUNNER})
    begin, memory = time.time(), 0
    while process.poll() is None:
        memory = max(memory, memory_of(process.pid))
        left = .2 if kill_after is None else begin + kill_after - time.time()
        try:
            process.wait(min(.2, max(left, 0)))
        except subprocess.TimeoutExpired:
            if left <= 0:
                process.kill()
    return process.wait(), memory


def play(term, folder, seed, sandbox, kills=()):
    """Runs the term in a folder. @param kills  (step, seconds) @return the seconds of each step, the number of kills
        that hit a running command, and the largest memory in MiB of a command"""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    term.write()
    seconds, killed, memory = [], 0, {}
    with open('log.txt', 'w') as log:
        for i, step in enumerate(steps(term, seed, sandbox)):
            status = KILL
            for after in [after for at, after in kills if at == i] + [None]:
                if status != KILL:
                    break  # it ended before it was to be killed
                begin = time.time()
                status, memory[step[0]] = run(step, log, after)
                if status == KILL:
                    killed += 1
                    left_until = time.time() + 2
                    while list(graders_of(folder)) and time.time() < left_until:
                        time.sleep(.05)
                    claim(f'no grader is left of a killed {step[0]}', not list(graders_of(folder)))
            seconds.append(time.time() - begin)
            log.flush()
            claim(f'{step[0]} ends well', status in step[2], f'status {status}: {step[1]}\n' + ''.join(open('log.txt').readlines()[-15:]))
    return seconds, killed, max((mib, name) for name, mib in memory.items())


def plan_kills(n, seconds, rng):
    """Chooses moments: half are spread evenly over the time, the others over the commands, because most commands are
    short."""
    kills = []
    for k in range(n):
        at = rng.choices(range(len(seconds)), seconds if k % 2 == 0 else None)[0]
        kills.append((at, rng.random() * seconds[at]))
    return kills


# ---- comparing -------------------------------------------------------------------------------------------------------

SAME = [
    '''SELECT g.submission, g.milestone, g.status, g.score, g.max_score, a.seed, a.source_hash, a.options, a.exit_status,
       a.message, c.position, c.name, c.status, c.points, c.pattern FROM grade g JOIN attempt a ON a.id = g.attempt
       LEFT JOIN check_result c ON c.attempt = a.id ORDER BY 1, 2, 11''',
    # a killed --regrade grades again what it had graded
    '''SELECT submission, milestone, min(count(*), CASE WHEN submission IN (SELECT value FROM json_each(?)) THEN 2 ELSE 99 END)
       FROM attempt GROUP BY 1, 2 ORDER BY 1, 2''',
    'SELECT submission, milestone, item, points, comment FROM manual_item ORDER BY 1, 2, 3',
    'SELECT submission, milestone, submitted, marked_late, source, report_name, report_bytes FROM handin ORDER BY 1, 2',
    'SELECT * FROM roster ORDER BY name',
    'SELECT name, team, kind, hash, status, message FROM submission ORDER BY name']


def gradebook(folder, regraded):
    with sqlite3.connect(f'file:{folder}/term.db?mode=ro', uri=True) as book:
        rows = [repr(row) for query in SAME for row in book.execute(query, [json.dumps(regraded)] * query.count('?'))]
        whole = book.execute('PRAGMA integrity_check').fetchone()[0]
    return [re.sub('0x[0-9a-f]+', '0x...', row) for row in rows], whole


def outputs(folder):
    """@return the files that a term leaves, without measured times, dates and the secret names of the ranking."""
    times = re.compile(r'\d+(\.\d+)?(e-?\d+)? ?(ms|us|µs|ns|s)\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|Z)?|0x[0-9a-f]+')
    for base, _, names in os.walk(folder):
        if 'term.db' in base or '/in' in base:
            continue
        for name in sorted(names):
            path = os.path.join(base, name)
            if name.endswith(('.csv', '.tsv', '.json', '.xml', '.md', '.txt')) and name not in ('log.txt', 'exported.csv'):
                text = open(path, errors='replace').read()
                text = re.sub(r'(?sm)^### Op Time.*?(?=^#+ |\Z)', '', text)  # (bars of its histogram are ### too)
                measured = '(?m)^.*(execution_time|leaderboard|Op Time|_time"|time="|"value"|"scoreboard"|"version"|datetime).*$'
                yield os.path.relpath(path, folder), times.sub('TIME', re.sub(measured, '', text)).replace(folder, '')


def compare(calm, killed, regraded):
    (a, whole_a), (b, whole_b) = gradebook(calm, regraded), gradebook(killed, regraded)
    claim('both gradebooks are whole', whole_a == whole_b == 'ok')
    claim('the gradebooks are equal', a == b, '\n'.join(list(difflib.unified_diff(a, b, n=0, lineterm=''))[:12]))
    b.append('one more')
    claim('the comparison sees one more row', a != b)
    files_a, files_b = dict(outputs(calm)), dict(outputs(killed))
    differ = [f for f in sorted({*files_a, *files_b}) if files_a.get(f) != files_b.get(f)]
    why = [line for f in differ[:3] for line in list(difflib.unified_diff(
        files_a.get(f, '').split('\n'), files_b.get(f, '').split('\n'), f, f, n=0, lineterm=''))[:6]]
    claim('grades, exports and feedback are equal', not differ, '\n'.join([' '.join(differ[:20]), *why]))
    return len(a), len(files_a)


def faults_of(path, validator):
    try:
        return [f'{path}: {e.message}' for e in validator.iter_errors(json.load(open(path)))]
    except (OSError, ValueError) as e:
        return [f'{path}: {e}']


def exports_are_valid(folder, term):
    """Checks the exports against the published formats in grader/export/tests/formats."""
    formats = f'{ROOT}/grader/export/tests/formats'
    try:
        import jsonschema
    except ImportError:
        jsonschema = None
        print('skip  JSON exports against their schemas: Python has no jsonschema')
    for form in RECORDS:
        out = f'{folder}/exported-{form}'
        # (on some file systems, a command that is killed while it writes leaves a temporary file, which nothing reads)
        files = [os.path.join(base, n) for base, _, names in os.walk(out) for n in names if '.tmp-' not in n] \
            if os.path.isdir(out) else [out]
        claim(f'{form}: each submission is exported', os.path.isfile(out) or len(files) >= len(term.handed_in()), f'{len(files)} files')
        if form == 'junit' and shutil.which('xmllint'):
            for at in range(0, len(files), 500):
                bad = subprocess.run(['xmllint', '--noout', '--schema', f'{formats}/junit.xsd', *files[at:at + 500]], capture_output=True)
                claim('junit: valid', bad.returncode == 0, bad.stderr.decode()[-500:])
        elif form != 'junit' and jsonschema:
            schema = json.load(open(f'{formats}/{form}.schema.json'))
            bad = [why for f in files for why in faults_of(f, jsonschema.Draft7Validator(schema))]
            claim(f'{form}: valid', not bad, '\n'.join(bad[:5]))
    for name in ('canvas.csv', 'moodle.csv'):
        rows = list(csv.reader(open(f'{folder}/{name}', encoding='utf-8-sig')))
        claim(f'{name}: a row for each student, as wide as its head',
              len(rows) >= len(term.people) and len({len(r) for r in rows}) == 1, f'{len(rows)} rows')


def grades_are_fair(folder, term):
    """Right submissions pass; no student who handed in is missing; each student has one row of final grades."""
    with sqlite3.connect(f'file:{folder}/term.db?mode=ro', uri=True) as book:
        grades = {(s, m): status for s, m, status in book.execute('SELECT submission, milestone, status FROM grade')}
        failed = {(s, m) for s, m in book.execute('''SELECT g.submission, g.milestone FROM grade g JOIN check_result c
            ON c.attempt = g.attempt WHERE c.status = 'fail' ''')}
        faults = book.execute('SELECT count(*) FROM fault').fetchone()[0]
    handed_in = term.handed_in()
    wrongly = [h for h in handed_in if term.kind[h] == 'right' and (grades.get(h) not in ('pass', 'skip') or h in failed)]
    claim('right submissions pass', not wrongly, f'{[(h, grades.get(h), term.source[h]) for h in wrongly[:5]]}')
    lost = [h for h in handed_in if grades.get(h) in (None, 'missing', 'rejected', 'fault')]
    claim('no submission is lost', not lost, f'{[(h, grades.get(h)) for h in lost[:5]]}')
    rows = list(csv.DictReader(open(f'{folder}/final.tsv'), delimiter='\t'))
    names = [row['student'] for row in rows]
    claim('each student has one row of final grades', sorted(names) == sorted(p.login for p in term.people), f'{names[:9]}')
    return {status: list(grades.values()).count(status) for status in sorted(set(grades.values()))}, faults


def main():
    small = sys.argv[1:] == ['--small']
    n, kills, seed = [int(v) for v in sys.argv[1:4]] + [200, 10, random.SystemRandom().randrange(10**6)][len(sys.argv[1:4]):] \
        if not small else (6, 2, random.SystemRandom().randrange(10**6))
    work = f'{BUILD}/term-check'
    if not shutil.which('bwrap') or subprocess.run([GRADER, 'sandbox'], capture_output=True).returncode:
        sandbox = ['--no-sandbox']
    else:
        sandbox = []
    print(f'term: {n} students, {kills} kills, seed {seed}', flush=True)
    shutil.rmtree(work, ignore_errors=True)
    term = term_downloads.Term(n, f'{work}/submissions')
    begin = time.time()
    seconds, _, (memory, command) = play(term, f'{work}/calm', str(seed), sandbox)
    print(f'undisturbed: {time.time() - begin:.0f} s; largest memory of a command: {memory:.0f} MiB, {command}', flush=True)
    claim(f'no command takes more than {MOST_MEMORY} MiB', memory <= MOST_MEMORY, f'{memory:.0f} MiB: {command}')
    moments = plan_kills(kills, seconds, random.Random(seed))
    _, killed, _ = play(term, f'{work}/killed', str(seed), sandbox, moments)
    statuses, faults = grades_are_fair(f'{work}/killed', term)
    exports_are_valid(f'{work}/killed', term)
    rows, files = compare(f'{work}/calm', f'{work}/killed', term.regraded)
    print(f'killed {killed} of {kills} times (the others came after the end of a short command), {faults} faults recorded; '
          f'{rows} rows and {files} files compared; grades: ' + ', '.join(f'{k} {v}' for k, v in statuses.items()))
    print(f'[====] Synthesis: Tested: {tested} | Passing: {good} | Failing: {tested - good} | Crashing: 0')
    return tested != good


if __name__ == '__main__':
    sys.exit(main())
