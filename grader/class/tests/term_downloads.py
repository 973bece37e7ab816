"""The downloads of a term, as four platforms hand them to an instructor (docs/downloads.md has the forms), with
roster, deadlines and submission times."""
import csv
import dataclasses
import io
import os
import shutil
import subprocess
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = 'Ann Bob Cara Dan Eve Femi Gül Håkon Ida Jörg Kim Li Mia Noor Olga Pedro Qi Ravi Sofía Tom'.split()
LAST = "Lee Olson Day Twice Fox O'Neil Çelik Berg Costa Müller Park Wei Rossi Haddad Ivanova Silva Zhang Kumar García Smith".split()
FEW = {'m2': [1, 4], 'm3': [2, 3, 6], 'm4': [4, 6]}  # which students (of every six) hand in these milestones
REPORT = '# What I expected\n\n| layer | expected | measured |\n|---|---|---|\n| 1 | 2.0 | 1.7 |\n'


@dataclasses.dataclass
class Person:
    login: str
    name: str
    number: int

    @property
    def email(self):
        return f'{self.login}@uni.example'

    @property
    def sortable(self):
        """The name as Canvas writes it in file names."""
        first, last = self.name.split(' ', 1)
        return ''.join(c for c in (last + first).lower() if c.isalnum() and c.isascii())


@dataclasses.dataclass
class Download:
    form: str
    milestone: str
    folder: str
    times: str


def archive(kind, files):
    """Packs files into a zip or tar file. @param files  {name: bytes}"""
    out = io.BytesIO()
    if kind == 'zip':
        with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as z:
            for name, data in files.items():
                z.writestr(zipfile.ZipInfo(name), data)
    else:
        with tarfile.open(fileobj=out, mode='w:gz') as t:
            for name, data in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def put(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())


class Term:
    """A course: people, their submissions, and four downloads. write() writes it into the current folder."""

    def __init__(self, n, submissions):
        self.people = [Person(f's{i:03}', f'{FIRST[i % 20]} {LAST[(i + i // 20) % 20]}' + (f' {i // 400}' if i >= 400 else ''), i)
                       for i in range(1, n + 1)]
        self.submissions = submissions
        forms = {'canvas': 'm1', 'moodle': 'm2', 'gradescope': 'm3', 'plain': 'm4'}
        self.downloads = [Download(form, m, f'in-{form}', f'times-{form}.csv') for form, m in forms.items()]
        milestones = list(forms.values())
        subprocess.run([f'{HERE}/submissions.py', str(n), submissions, ','.join(milestones), '--rename'], check=True)
        rows = [line.split('\t') for line in open(f'{submissions}/kinds.tsv').read().splitlines()]
        self.made = {(int(i), m): (kind, source) for i, m, kind, source in rows if n > 6 or m == 'm1' or int(i) in FEW[m]}
        self.regraded = [p.login for p in self.people if (p.number, self.downloads[1].milestone) in self.made][:3]
        self.kind, self.source = {}, {}
        for d in self.downloads:
            for p in self.hands_in(d):
                whose = self.owner(d, p)
                self.kind[whose, d.milestone], self.source[whose, d.milestone] = self.made[p.number, d.milestone]
        for p in self.again():
            self.kind[p.login, 'm1'], self.source[p.login, 'm1'] = 'right', 'handed in again'

    def hands_in(self, d):
        return [p for p in self.people if (p.number, d.milestone) in self.made and not self.is_second(d, p)]

    def is_second(self, d, p):
        """Whether a person is the second member of a team: on Gradescope, every tenth student hands in together with
        the previous student."""
        return d.form == 'gradescope' and p.number % 10 == 3 and (p.number - 1, d.milestone) in self.made

    def team_of(self, d, p):
        return [p] + [q for q in self.people if q.number == p.number + 1 and self.is_second(d, q)]

    def owner(self, d, p):
        """The submission's name in the gradebook."""
        return '+'.join(q.login for q in self.team_of(d, p))

    def handed_in(self):
        return set(self.kind)

    def again(self):
        """The students whose m1 was wrong and who hand in a right m1 later."""
        return [p for p in self.hands_in(self.downloads[0]) if self.made[p.number, 'm1'][0] != 'right'][:max(2, len(self.people) // 40)]

    def file(self, p, milestone):
        folder = f'{self.submissions}/{p.number}'
        lab = next(f for f in os.listdir(folder) if f.startswith(f'{milestone}-'))
        name = os.listdir(f'{folder}/{lab}')[0]
        return lab, name, open(f'{folder}/{lab}/{name}', 'rb').read()

    # ---- files beside the downloads ----

    def write(self):
        with open('roster.csv', 'w', newline='', encoding='utf-8') as file:
            out = csv.writer(file)
            out.writerow(['name', 'display_name', 'email', 'platform_id', 'sis_id'])
            out.writerows([p.login, p.name, p.email, 70000 + p.number, f'U{p.number:05}'] for p in self.people)
        due = ''.join(f'  - {{milestone: {m}, at: 2026-10-{10 + 5 * int(m[1:])}T23:59+01:00}}\n'
                      for m in [d.milestone for d in self.downloads])
        rules = 'slip_days: 2\npolicy: per_day\npercent: 10\nat_most: 50\ngrace_minutes: 10\n'
        first, last = self.people[0], self.people[-1]
        put('deadlines.yaml', f'due:\n{due}{rules}')
        put('deadlines-2.yaml', f'due:\n{due}extensions:\n'
            f'  - {{for: {first.email}, milestone: {self.downloads[0].milestone}, until: 2026-10-29T23:59+01:00, reason: ill}}\n'
            f'  - {{for: {last.login}, milestone: {self.downloads[3].milestone}, until: 2026-11-29T23:59+01:00, reason: "ill, too"}}\n{rules}')
        for d in self.downloads:
            getattr(self, f'write_{d.form}')(d)
            self.write_times(d)

    def day(self, d, p):
        """The day in October of a hand-in: every fourth hand-in is one to five days late."""
        return 10 + 5 * int(d.milestone[1:]) + (1 + p.number % 5 if p.number % 4 == 0 else -1)

    def write_times(self, d):
        with open(d.times, 'w', newline='', encoding='utf-8') as file:
            out = csv.writer(file)
            if d.form == 'moodle':
                out.writerow(['Identifier', 'Full name', 'Email address', 'Status', 'Grade', 'Last modified (submission)'])
                out.writerows([f'Participant {900 + p.number}', p.name, p.email, 'Submitted', '',
                               f'Saturday, {self.day(d, p)} October 2026, 9:{p.number % 60:02} PM'] for p in self.hands_in(d))
            else:
                out.writerow(['email', 'submitted'])
                out.writerows([p.email, f'2026-10-{self.day(d, p):02}T21:{p.number % 60:02}:00Z'] for p in self.hands_in(d))

    # ---- the four forms ----

    def write_canvas(self, d):
        for p in self.hands_in(d):
            _, name, data = self.file(p, d.milestone)
            late = '_LATE' if self.day(d, p) > 10 + 5 * int(d.milestone[1:]) else ''
            stem, suffix = name.split('.')
            again = '-1' if p.number % 3 == 0 else ''
            if p.number % 6 == 4:
                put(f'{d.folder}/{p.sortable}{late}_{70000 + p.number}_{9000 + p.number}_work.zip', archive('zip', {name: data}))
            else:
                put(f'{d.folder}/{p.sortable}{late}_{70000 + p.number}_{9000 + p.number}_{stem}{again}.{suffix}', data)
            if p.number % 2:
                put(f'{d.folder}/{p.sortable}{late}_{70000 + p.number}_{5000 + p.number}_report-{d.milestone}.md', REPORT)

    def write_moodle(self, d):
        for p in self.hands_in(d):
            _, name, data = self.file(p, d.milestone)
            folder = f'{d.folder}/{p.name}_{900 + p.number}_assignsubmission_file'
            if p.number % 2:
                put(f'{folder}/{name}', data)
            else:
                put(f'{folder}/lab.zip', archive('zip', {f'lab/{name}': data, 'lab/report.md': REPORT.encode()}))

    def write_gradescope(self, d):
        meta = ['---\n']
        for p in self.hands_in(d):
            lab, name, data = self.file(p, d.milestone)
            folder = f'submission_{4000 + p.number}'
            if p.number % 4 == 1:
                inner = archive('tar', {f'{lab}/{name}': data})
                put(f'{d.folder}/{folder}/all.zip', archive('zip', {'work.tar.gz': inner}))
            else:
                put(f'{d.folder}/{folder}/{lab}/{name}', data)
            put(f'{d.folder}/{folder}/report.md', REPORT)
            meta.append(f'{folder}:\n  :submitters:\n')
            meta += [f'  - :name: "{q.name}"\n    :sid: U{q.number:05}\n    :email: {q.email}\n' for q in self.team_of(d, p)]
            meta.append(f'  :created_at: 2026-10-{self.day(d, p):02} 20:{p.number % 60:02}:30.5 Z\n  :score: 0.0\n')
        put(f'{d.folder}/submission_metadata.yml', ''.join(meta))

    def write_plain(self, d):
        """Repositories, by login."""
        for p in self.hands_in(d):
            lab, name, data = self.file(p, d.milestone)
            put(f'{d.folder}/{p.login}/labs/{lab}/{name}', data)
            put(f'{d.folder}/{p.login}/.git/HEAD', 'ref: refs/heads/main\n')
            put(f'{d.folder}/{p.login}/README.md', 'My solutions.\n')

    def hand_in_again(self):
        """Replaces some submissions of the first download by right submissions; a second call changes nothing."""
        d = self.downloads[0]
        right = open(f'{HERE}/../../../reference/m1-cpu-conv/conv.c').read()
        for p in self.again():
            for old in os.listdir(d.folder):
                if f'_{70000 + p.number}_' in old:
                    os.remove(f'{d.folder}/{old}')
            put(f'{d.folder}/{p.sortable}_{70000 + p.number}_{9500 + p.number}_conv-1.c', f'/* {p.login} */\n{right}')
