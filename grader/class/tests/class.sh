#!/bin/sh
# Tests grader class on a few submissions: graded and rejected submissions, with reasons; notices that name a
# submission; a run that is killed three times and ends like an undisturbed run; a full disk, a lock, another version.
#
#   CONVLAB_BUILD=build class.sh
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$here/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
export TMPDIR="$scratch" # the folder of locks
trap 'umount "$scratch/small" 2>/dev/null; chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$scratch" || exit 1
. "$here/class-tools.sh"

reference=$top/reference/m1-cpu-conv/conv.c

# grades FOLDER GRADEBOOK [OPTION...]: grades quickly, with one image; the output goes to the file said-GRADEBOOK.
grades() {
    grades_in=$1
    grades_to=$2
    shift 2
    "$build/grader" class "$grades_in" --milestones m1 --gradebook "$grades_to" --quick --images 1 \
        --seed 7 $sandbox "$@" >"said-$grades_to" 2>&1
}

# hand_in NAME [right]: makes a folder in in/ with a wrong submission, which is graded quickly, or with "right" a right
# one.
hand_in() {
    mkdir -p "in/$1/m1-cpu-conv"
    if [ "$2" = right ]; then
        cp "$reference" "in/$1/m1-cpu-conv/conv.c"
    else
        printf '#include "conv.h"\n/* %s */\nint conv_forward(const struct conv_shape *s, const float *x, const float *k, float *y)\n{\n    y[0] = x[0] * k[0] + s->B;\n    return 0;\n}\n' \
            "$(echo "$1" | tr -dc a-z0-9)" >"in/$1/m1-cpu-conv/conv.c"
    fi
}

status_of() { # GRADEBOOK NAME: "pass 40", ...
    sql "$1" "SELECT status, score FROM grade WHERE submission = '$2'"
}

has_status() { # GRADEBOOK NAME STATUS
    found=$(status_of "$1" "$2")
    [ "${found%% *}" = "$3" ] || { echo "$2: expected $3, got $found"; cat "said-$1"; return 1; }
}

prints() { # GRADEBOOK TEXT
    grep -qF -- "$2" "said-$1" || { echo "not reported: $2"; cat "said-$1"; return 1; }
}

# ---- archives, names, doubles -------------------------------------------------------------------------------
bytes_of() { head -c "$1" /dev/zero; }
mkdir in made
mkdir -p made/m1-cpu-conv && cp "$reference" made/m1-cpu-conv/conv.c
hand_in s001 right
hand_in s002
(cd made && tar czf ../in/a-good.tar.gz m1-cpu-conv && tar cf ../in/a-dots.tar -P ../made/m1-cpu-conv/conv.c &&
    tar cf ../in/a-root.tar -P "$PWD/m1-cpu-conv/conv.c")
ln -s /etc/passwd made/symbolic && ln made/m1-cpu-conv/conv.c made/hard && mkfifo made/pipe
(cd made && tar cf ../in/a-symbolic.tar m1-cpu-conv symbolic && tar cf ../in/a-hard.tar m1-cpu-conv hard &&
    tar cf ../in/a-pipe.tar m1-cpu-conv pipe)
mknod made/device c 1 3 2>/dev/null && (cd made && tar cf ../in/a-device.tar m1-cpu-conv device)
bytes_of 40000000 >made/zeros && (cd made && tar czf ../in/a-bomb.tar.gz m1-cpu-conv zeros && rm zeros)
mkdir made/many && (cd made/many && seq 20001 | xargs touch) && (cd made && tar czf ../in/a-count.tar.gz many) && mv made/many in/f-many
mkdir in/f-many/m1-cpu-conv && cp "$reference" in/f-many/m1-cpu-conv/conv.c
printf '7z' >in/a-7z.7z
mkdir -p made/two/a/m1 made/two/b/m1 made/two/m2 && echo 1 >made/two/a/m1/conv.c && cp made/two/a/m1/conv.c made/two/b/m1/ &&
    echo 2 >made/two/m2/conv.cu && (cd made/two && tar cf ../../two.tar b a m2) && (cd made/two && tar cf ../../in/a-two.tar b a)
mkdir -p in/f-two && cp -r made/two/a made/two/b in/f-two
bytes_of 10240 >in/a-empty.tar && echo nothing >in/a-noise.zip
mkdir -p made/large/m1-cpu-conv in/f-large/m1-cpu-conv in/f-noise/m1-cpu-conv in/f-link/m1-cpu-conv in/f-none
bytes_of 2000000 >made/large/m1-cpu-conv/conv.c && (cd made/large && tar cf ../../in/a-large.tar .)
truncate -s 100M in/f-large/m1-cpu-conv/conv.c
head -c 20000 "$build/grader" >in/f-noise/m1-cpu-conv/conv.c
ln -s "$reference" in/f-link/m1-cpu-conv/conv.c
mkdir in/twice && cp in/a-good.tar.gz in/twice.tgz && cp in/a-good.tar.gz in/again.tgz && cp in/a-good.tar.gz in/again.tar.gz
hand_in "$(printf 'new\nline')" && hand_in "-rf" && hand_in "it's \"q\"" && hand_in "$(printf 'bad\377')" &&
    hand_in "$(printf 'up\033[2J\342\200\256')"
# With %HH, these names are three times as long as a file's name may be.
long=$(printf 'a\303\274%.0s' $(seq 80)) && hand_in "${long}1" && hand_in "${long}2"
mkdir -p in/f-socket/m1-cpu-conv && perl -MIO::Socket::UNIX -e \
    'IO::Socket::UNIX->new(Local => "in/f-socket/m1-cpu-conv/conv.c", Listen => 1)' 2>/dev/null
ln -s /etc in/linked && echo hi >in/notes.txt
printf '\357\273\277name,team\r\ns001,\r\ns001,again\r\n,\r\n"it'"'"'s ""q""",a-good\r\ns999,\r\nM\374ller,\r\nmember,a-good\r\nblank ,\r\n"open,\r\n' >roster.csv

# Meanwhile another class runs: it gets the turn before this class begins, and keeps it for 21 s after this class begins
# to wait for it, which is longer than a grading may take.
mkdir -p turn/late/m1-cpu-conv waiting && cp "$reference" turn/late/m1-cpu-conv/conv.c
waits_somebody() { [ -n "$(find turn.db.files -name waits 2>/dev/null)" ]; }
(flock 9; for _ in $(seq 600); do waits_somebody && break; sleep 0.1; done; sleep 21) 9>"waiting/convlab-timing-$(id -u)-cpu.lock" &
(sleep 0.2; TMPDIR=$scratch/waiting grades turn turn.db --cpu-times --limit 20 --retries 0) &
waiting=$!

claim 'a class with all kinds of bad input is graded to its end' grades in bad.db --roster roster.csv
for name in s001 a-good; do
    claim "$name passes" has_status bad.db "$name" pass
done
for name in s002 '-rf' "it''s \"q\"" 'bad\xff' "$(printf 'new\nline')"; do
    claim "$name, a wrong one, fails" has_status bad.db "$name" fail
done
claim 'binary noise fails' has_status bad.db f-noise fail
claim 'a row that is not UTF-8 is reported' prints bad.db 'roster, line 7: is not UTF-8; rows that are not UTF-8: 1'
for name in a-7z a-two f-two f-many a-dots a-root a-symbolic a-hard a-pipe a-bomb a-count a-noise a-large f-large f-link twice again; do
    claim "$name is rejected" has_status bad.db "$name" rejected
done
claim 'an empty folder: missing' has_status bad.db f-none missing
claim 'an empty archive: missing' has_status bad.db a-empty missing
claim 'only in the roster: missing' has_status bad.db s999 missing
claim '.. is named' prints bad.db 'a-dots: rejected: its archive is refused: a path with ..'
claim 'an absolute path is named' prints bad.db 'a-root: rejected: its archive is refused: an absolute path'
claim 'a symbolic link is named' prints bad.db 'a-symbolic: rejected: its archive is refused: a symbolic link: symbolic'
claim 'a hard link is named' prints bad.db 'a-hard: rejected: its archive is refused: a hard link: hard'
claim 'a pipe is named' prints bad.db 'a-pipe: rejected: its archive is refused: a named pipe'
[ ! -S in/f-socket/m1-cpu-conv/conv.c ] || claim 'a socket is named' prints bad.db 'f-socket: m1: m1-cpu-conv/conv.c is not a regular file'
[ ! -S in/f-socket/m1-cpu-conv/conv.c ] || claim 'and is not a fault' has_status bad.db f-socket rejected
[ ! -e in/a-device.tar ] || claim 'a device is named' prints bad.db 'a-device: rejected: its archive is refused: a device: device'
claim 'a bomb of size is named' prints bad.db 'a-bomb: rejected: its archive is refused: a bomb: unpacks to more than 200 times its size'
claim 'a bomb of count is named' prints bad.db 'a-count: rejected: its archive is refused: a bomb: more than 20000 entries'
claim 'a large source is named' prints bad.db 'f-large: m1: m1-cpu-conv/conv.c has 104857600 bytes'
claim 'a linked source is named' prints bad.db 'f-link: m1: m1-cpu-conv/conv.c is a link'
claim 'two submissions are named' prints bad.db 'twice: rejected: handed in twice, as twice and as twice.tgz'
claim 'a folder of too many files is rejected, whatever was found' prints bad.db 'f-many: rejected: its folder has more than 20000 files'
claim 'an archive of another kind is rejected by name' prints bad.db 'a-7z: rejected: a-7z.7z is an archive of an unsupported kind'
claim 'a milestone with two files is named' prints bad.db 'f-two: m1: a/m1/conv.c is not the only file of this milestone'
claim 'and in an archive' prints bad.db 'a-two: m1: a/m1/conv.c is not the only file of this milestone'
others_are_taken() {
    "$build/unpack-submission" 1000 m1 m1-cpu-conv conv.c m2 m2-gpu-baseline conv.cu <two.tar >said-unpack
    printf 'twice\tm1\ta/m1/conv.c\t2\nfile\tm2\tm2/conv.cu\t2\n2\n' | diff - said-unpack
}
claim 'the other milestones of that archive are taken' others_are_taken
claim 'attempts without a grading have times, too' [ "$(sql bad.db "SELECT count(*) FROM attempt WHERE started = 0 OR finished = 0")" = 0 ]
all_are_exported() {
    "$build/grader" export gradescope --gradebook bad.db --out exported || return 1
    [ "$(find exported -name m1.json | wc -l)" = "$(sql bad.db 'SELECT count(*) FROM grade')" ]
}
claim 'each submission is exported, whatever its name' all_are_exported
no_formulas() { "$build/grader" final --gradebook bad.db --unchecked omit >said-final && grep -q "^'-rf	'-rf	" said-final; }
claim 'a name in the final grades is not a formula' no_formulas
no_controls() { grep -qF 'up\\x1b[2J\\xe2\\x80\\xae	' said-final; }
claim 'and what is not printable in it is shown as bytes' no_controls
claim 'two archives are named' prints bad.db 'again: rejected: handed in twice, as again.tar.gz and as again.tgz'
claim 'a newline in a name is escaped' prints bad.db 'new\x0aline m1: fail'
claim 'a linked submission is named' prints bad.db 'linked: is a link'
claim 'a double row is named' prints bad.db 's001: roster, line 3: the name is already in line 2'
claim 'a row without a name is named' prints bad.db 'roster, line 4: no name'
claim 'an open quote is named' prints bad.db 'roster, line 10: a quote is not closed'
claim 'a student with an own and a team'"'"'s submission is named' prints bad.db 'it'"'"'s "q": has handed in alone and also in team a-good: the submission made alone counts'
claim 'a name with a blank after it is reported' prints bad.db 'blank : roster, line 9: a name begins or ends with a blank, which counts as part of the name'
member_has_a_team() {
    ! "$build/grader" manual --gradebook bad.db member m1 late_days 1 >said-member 2>&1 && prints member "belongs to team a-good of the roster"
}
claim 'points of a member of a team are refused, and the team is named' member_has_a_team
claim 'one line reports that most submissions are not in the roster' prints bad.db 'submissions are not in the roster'
again_is_nothing() { grades in bad.db --roster roster.csv && prints bad.db '0 graded'; }
claim 'the same command again grades nothing' again_is_nothing
gradebook_is_none() { # in the class's folder, in which the command was started
    mkdir self && cp -r in/s002 self && for run in 1 2; do
        (cd self && "$build/grader" class . --milestones m1 --quick --images 1 $sandbox >../said-self 2>&1) || { cat said-self; return 1; }
        ! prints self 'gradebook.db.files m1' && ! prints self 'is not a submission' || return 1
    done >/dev/null
    [ "$(sql self/gradebook.db 'SELECT submission FROM grade')" = s002 ]
}
claim 'a gradebook in the class'"'"'s folder is not graded' gradebook_is_none
edited_rubric_is_reported() { # as if the gradebook had been begun with another rubric
    in_self() { (cd self && "$build/grader" class . --milestones m1 --quick --images 1 $sandbox "$@" >../said-self 2>&1); }
    edited='m1: its rubric was edited; earlier grades do not change'
    in_self && ! prints self "$edited" >/dev/null && sql self/gradebook.db "UPDATE setting SET value = 'x' WHERE name = 'rubric_m1'" &&
        in_self && prints self "$edited" && in_self --regrade --only s002 && prints self "$edited" &&
        in_self --regrade && ! prints self "$edited" >/dev/null && in_self && ! prints self "$edited" >/dev/null
}
claim 'an edited rubric is reported until all is graded again' edited_rubric_is_reported
nothing_at_all() { mkdir empty && grades empty empty.db && prints empty.db 'no submissions in' && ! grades nowhere empty.db && prints empty.db 'nowhere'; }
claim 'an empty class is reported, and a missing one' nothing_at_all

# ---- killed, and resumed ------------------------------------------------------------------------------------
rm -rf in && mkdir in
for i in 1 2 3 4 5 6 7 8; do
    hand_in "s00$i" $([ "$i" = 1 ] && echo right)
done
claim 'an undisturbed run' grades in calm.db --jobs 2
killed_is_the_same() {
    for wait in 0.25 0.4 0.6; do
        "$build/grader" class in --milestones m1 --gradebook killed.db --quick --images 1 --seed 7 --jobs 2 \
            $sandbox >said-killed.db 2>&1 &
        sleep $wait
        kill -9 $! 2>/dev/null
        wait $! 2>/dev/null
        none_left "$scratch/killed.db.files" || return 1
    done
    sql killed.db 'SELECT count(*) FROM grade'
    grades in killed.db --jobs 2 && same_gradebooks calm.db killed.db
}
claim 'killed three times, it resumes, and ends the same' killed_is_the_same
differs_is_seen() {
    cp calm.db other.db && sql other.db "UPDATE grade SET score = 1 WHERE submission = 's003'" &&
        ! same_gradebooks calm.db other.db
}
claim 'the comparison sees another score' differs_is_seen

# ---- again, compared, by hand, finished ---------------------------------------------------------------------------
tool() { # COMMAND OPTION...: the output goes to said-tool
    name=$1
    shift
    "$build/grader" "$name" --gradebook calm.db "$@" >said-tool 2>&1
}
says() { grep -qF -- "$1" said-tool || { echo "not reported: $1"; cat said-tool; return 1; }; }

items_are_entered() {
    tool manual s001 m1 explanation_clarity 7 'clear, "short"' && tool manual s001 - style 4 &&
        tool manual s002 m1 late_days 4 && tool manual s002 m1 comment '' 'see me' && tool manual --list &&
        says 's001 m1 explanation_clarity 7  clear, "short"' && says 's002 m1 late_days 4' && says 's002 m1 comment  see me'
}
wrong_items_are_refused() {
    ! tool manual s001 m1 explanation_clarity 900 && says 'expected a number from 0 to 8, got 900' &&
        ! tool manual nobody m1 late_days 1 && says 'no such submission' &&
        ! tool manual s001 m1 beauty 1 && says 'expected explanation_approach' &&
        printf 'submission,milestone,item,points,comment\r\ns003,m1,explanation_clarity,3,"two\nlines"\r\ns003,m1,beauty,3,\r\n' >items.csv &&
        ! tool manual --import items.csv && says '1 entered, 1 skipped' && says 'items.csv, line 4, skipped' &&
        tool manual --list s003 && says 's003 m1 explanation_clarity 3  two\x0alines' &&
        printf 'submission,milestone,item,points,comment\ns003,m1,comment,,gr\374n\n' >items.csv &&
        ! tool manual --import items.csv && says 'items.csv, line 2, skipped: the comment is not UTF-8' &&
        ! tool manual --remove s003 m1 comment && says 'no such item was entered: got s003 m1 comment' &&
        tool manual --remove s003 m1 explanation_clarity && ! tool manual --list nobody && says 'no such submission'
}
claim 'manual items are entered' items_are_entered
claim 'wrong manual items are refused, in a file by line' wrong_items_are_refused
regraded() { # another source and another seed: only these are graded again, and the manual items stay
    cp calm.db before.db
    hand_in s001
    grades in calm.db && prints calm.db '1 graded: 0 pass, 1 fail' && has_status calm.db s001 fail &&
        grades in calm.db --seed 8 --only s002,s003 && prints calm.db '2 graded' &&
        grades in calm.db --only nobody && prints calm.db 'nobody: --only: no submission has this name' &&
        grades in calm.db --since 2100-01-01 && prints calm.db '0 graded' &&
        grades in calm.db --regrade --only s002 && prints calm.db '1 graded' &&
        tool manual --list s001 && says 'explanation_clarity 7'
}
claim 'changed sources, --only, --since, --seed, --regrade; manual items stay' regraded
compared() {
    tool compare
    [ $? = 1 ] && says 's001 m1: pass 30/60 -> fail 5/60; unit_shapes pass -> fail' && says 'another source' || return 1
    "$build/grader" compare before.db calm.db >said-tool
    [ $? = 1 ] && says '8 compared: 0 higher, 1 lower' || return 1
    "$build/grader" compare calm.db calm.db >said-tool && says '0 higher, 0 lower'
}
claim 'grades are compared with those before' compared
finals() { # 15 points for m1: 5 of 60 and 7 of 40 in 100; 5 for style: 4 of 5; 4 late days, of which 3 are free
    tool final --unchecked lost && says "s001	s001	1.80	0.00	0.00	0.00	4.00	0.00	5.80" &&
        says "s002	s002	0.75	0.00	0.00	0.00	0.00	-5.00	0.00" && says 'manual items are not entered yet' &&
        printf 'part\tweight\tkind\tof\tbest\tfirst\tsecond\nall\t10\toptimisation\tm1\t1\t0.6\t0\n' >weights.tsv &&
        tool final --unchecked lost --weights weights.tsv && says "s001	s001	1.20	1.20" &&
        sed -i 's/optimisation/beauty/' weights.tsv && ! tool final --unchecked lost --weights weights.tsv &&
        says 'weights.tsv, line 2: expected rubric, optimisation, ranking, manual or late, got beauty' &&
        says 'docs/class.md' && sed -i 's/beauty	m1/rubric	m99/' weights.tsv && ! tool final --unchecked lost --weights weights.tsv &&
        says 'unknown milestone: weights.tsv, line 2: expected'
}
claim "final grades by the course's weights, and by others" finals
unchecked_is_no_silent_zero() { # at least 20 of these 60 points were never requested
    prints calm.db 'm1: inference_100, inference_1000, inference_10000: not checked with these --images: 30 of its 60 automatic points' &&
        ! "$build/grader" final --gradebook calm.db >said-tool 2>&1 && says 'some gradings left out a check of the rubric' &&
        says 'inference_100, 10 points, in 8 grades' && tool final --unchecked omit && says "s001	s001	2.57	"
}
claim 'checks that were not requested are not counted silently' unchecked_is_no_silent_zero
gone_is_reported() { # renamed: both names have grades until the old one is removed; restored, it has its old grade
    mv in/s003 in/s003-new
    grades in calm.db --only s003-new && prints calm.db "1 submissions of the gradebook are not in the class's folder; their grades stay" &&
        prints calm.db 'forget NAME): s003' && tool final --unchecked lost && says 's003	s003	' && says 's003-new	s003-new	' || return 1
    tool gradebook --forget s003 && ! tool gradebook --forget s003 && says 'no grade of such a submission: got s003' &&
        tool final --unchecked lost && ! grep -q '^s003	' said-tool && says 's003-new	' && [ -z "$(status_of calm.db s003)" ] || return 1
    mv in/s003-new in/s003
    tool gradebook --forget s003-new && grades in calm.db --only s003 && prints calm.db '1 graded' && has_status calm.db s003 fail &&
        [ "$(sql calm.db "SELECT count(*) > 1 FROM attempt WHERE submission = 's003'")" = 1 ]
}
claim 'a submission that is gone is reported, and removed on request' gone_is_reported

# ---- named files ------------------------------------------------------------------------------------------------
# Editing a file makes grades out of date, whatever path names it; moving the file does not.
edited_files_count() {
    mkdir -p private again && cp "$top"/data/models/two-layer.safetensors "$top"/data/models/expected.tsv private/
    printf 'B\tM\tC\tH\tW\tK\n1\t2\t3\t9\t8\t2\n' >private/shapes.tsv
    given="--only s002 --shapes private/shapes.tsv --model private/two-layer.safetensors"
    # shellcheck disable=SC2086
    ! grades in calm.db $given && prints calm.db 'm1 was graded with a different --model: calm.db: expected none, got two-layer.safetensors@' &&
        grades in calm.db $given --change shapes,model && prints calm.db '1 graded' && grades in calm.db $given && prints calm.db '0 graded' || return 1
    # Options that are not given stay as they were.
    "$build/grader" class in --milestones m1 --gradebook calm.db --only s002 $sandbox >said-calm.db 2>&1 &&
        prints calm.db '0 graded' && prints calm.db "Graded with the gradebook's options: --images 1 --model two-layer.safetensors@" || return 1
    cp private/* again/
    grades in calm.db --only s002 --shapes again/shapes.tsv --model again/two-layer.safetensors && prints calm.db '0 graded' || return 1
    printf '2\t2\t3\t9\t8\t2\n' >>private/shapes.tsv
    # shellcheck disable=SC2086
    ! grades in calm.db $given && prints calm.db 'a different --shapes' && grades in calm.db $given --change shapes && prints calm.db '1 graded' || return 1
    printf 'two-layer\t9\t0.5\n' >>private/expected.tsv
    # shellcheck disable=SC2086
    grades in calm.db $given --change model && prints calm.db '1 graded' && grades in calm.db $given && prints calm.db '0 graded' || return 1
    sql calm.db "SELECT options FROM attempt ORDER BY id DESC LIMIT 1" | grep -qx -- \
        '--images 1 --model two-layer.safetensors@[0-9a-f]* --shapes shapes.tsv@[0-9a-f]* --quick' || return 1
    ! grades in calm.db --shapes none.tsv && prints calm.db 'none.tsv' || return 1
    printf 'B\tM\n1\t2\n' >wrong.tsv # mistakes in the file are reported at once, before any grading
    ! grades in calm.db --shapes wrong.tsv && prints calm.db 'a list of shapes has no column C' && ! prints calm.db 'fault' >/dev/null &&
        ! grades in calm.db --device virtual:none && prints calm.db "profile" && ! prints calm.db 'fault' >/dev/null &&
        ! grades in calm.db --model nobody && prints calm.db "no model is named 'nobody'" && ! prints calm.db 'fault' >/dev/null
}
claim 'files of shapes and models count by their contents' edited_files_count

# ---- cores for times ------------------------------------------------------------------------------------------------
times_of_the_cpu() { # m1 gives no points for times: noise is marked, but nothing is graded twice
    mkdir -p jumps/jumpy/m1-cpu-conv && cp "$here/jumpy.inc" jumps/jumpy/m1-cpu-conv/conv.c
    in_jumps() { "$build/grader" class jumps --milestones m1 --gradebook jumps.db --images 4,5 --seed 7 --jobs 2 $sandbox "$@" >said-jumps.db 2>&1; }
    in_jumps --timing-cores 1 && ! prints jumps.db 'noisy times: will be graded again' >/dev/null && prints jumps.db 'pass 30/60, noisy times' &&
        prints jumps.db 'which nothing else uses' && has_status jumps.db jumpy pass || return 1
    core=$(sed -n 's/^Measuring CPU times on \(cores [^,]*\),.*/\1/p' said-jumps.db)
    [ "$(sql jumps.db 'SELECT tries, alone, noisy FROM attempt')" = '1 0 1' ] &&
        [ "cores$(sql jumps.db 'SELECT substr(timed_on, 5) FROM attempt')" = "$core" ] &&
        [ "$(sql jumps.db 'SELECT count(*) FROM attempt WHERE timed_from BETWEEN started AND timed_until AND timed_until <= finished')" = 1 ] &&
        grep -q 'on 1 cores, 0 not' jumps.db.files/jumpy/m1/1/log.txt || { cat jumps.db.files/jumpy/m1/1/log.txt; sql jumps.db 'SELECT * FROM attempt'; return 1; }
    in_jumps --regrade && [ "$(sql jumps.db "SELECT group_concat(DISTINCT images), timed_on LIKE 'cores 0-%, not alone', timed_from
        FROM timing JOIN attempt ON id = attempt WHERE id = 2")" = '4 1 ' ] && [ "$(sql jumps.db 'SELECT count(*) FROM inference WHERE attempt = 2')" = 2 ] || return 1
    # Makes the state that a killed run leaves after noise on a GPU: the next run grades this submission with no other
    # running.
    sql jumps.db "SELECT source_hash || ' ' || seed || ' ' || options FROM attempt WHERE id = 2" >jumps.db.files/jumpy/m1/3.noisy
    in_jumps --regrade && [ "$(sql jumps.db 'SELECT tries, alone FROM attempt WHERE id = 3')" = '2 1' ] && [ ! -e jumps.db.files/jumpy/m1/3.noisy ]
}
[ "$(nproc)" -lt 2 ] || claim "m1's times: a separate core where asked, else of the smallest size alone" times_of_the_cpu
cpu_time_is_all() { # including the sandbox's: 52 shapes with a loop of a few ms each
    mkdir -p busy/busy/m1-cpu-conv && sed 's/return 0;/for (volatile long i = 0; i < 20000000; i++) continue; return 0;/' "$reference" >busy/busy/m1-cpu-conv/conv.c
    grades busy busy.db && has_status busy.db busy pass && [ "$(sql busy.db 'SELECT cpu_s > 1 FROM attempt')" = 1 ] || { sql busy.db 'SELECT cpu_s FROM attempt'; return 1; }
}
claim "a grading's processor time is that of all its processes" cpu_time_is_all
narrow_is_reported() { # too little address space on the machine is not a fault of the submission
    (ulimit -v 2000000 && "$build/grader" m1 --source "$reference" --quick --images 1 --report room $sandbox) >said-room 2>&1
    [ $? = 2 ] && grep -q 'this machine limits address space (ulimit -v): raise that limit' said-room || { cat said-room; return 1; }
}
claim 'a machine with little address space grades nothing' narrow_is_reported

# Uses GPUs that do not exist. make, which gives a grading the labs' compile command, is replaced by a script that also
# records the GPU of the grading.
gpus_are_shared_out() {
    mkdir -p gpus/a/m2-gpu-baseline gpus/b/m2-gpu-baseline fake
    printf '#!/bin/sh\necho "GPU 0: A (UUID: GPU-aaaa)"\necho "GPU 1: A (UUID: GPU-bbbb)"\necho "GPU 2: A (UUID: GPU-cccc)"\n' >fake/nvidia-smi
    printf '#!/bin/sh\necho "$CUDA_VISIBLE_DEVICES $CONVLAB_TIMING_LOCK" >>%s/given\nexec %s "$@"\n' "$PWD" "$(command -v make)" >fake/make
    chmod +x fake/*
    for name in a b; do
        printf '#include "conv.h"\n#error\n' >gpus/$name/m2-gpu-baseline/conv.cu
    done
    PATH=$PWD/fake:$PATH CUDA_VISIBLE_DEVICES=2,1 "$build/grader" class gpus --milestones m2 --gradebook gpus.db --seed 7 \
        --jobs 2 --device gpu $sandbox >said-gpus.db 2>&1
    sort -u given | sed -n 's/^\(GPU-[a-z]*\) .*-\(GPU-[a-z]*\)\.lock$/\1 \2/p' >shared
    [ "$(tr '\n' ' ' <shared)" = 'GPU-bbbb GPU-bbbb GPU-cccc GPU-cccc ' ] && prints gpus.db 'Measuring times on GPU GPU-cccc' &&
        has_status gpus.db a fail || { cat given said-gpus.db; return 1; }
}
[ ! -x "$("$top/common/mk/find-cuda.sh")/bin/nvcc" ] || claim 'each grading is given one GPU, and its lock' gpus_are_shared_out

# ---- the machine's faults ------------------------------------------------------------------------------------
fault_is_apart() { # a grader that is killed each time is not a fail, and is repeated when possible
    rm -rf in/s00[3-8] fault.db*
    hand_in s001 right
    (sleep 0.1; for k in 1 2 3 4 5 6 7 8 9 10 11 12; do kill_graders "$scratch/fault.db.files" s001; sleep 0.1; done) &
    killer=$!
    grades in fault.db --jobs 1 --retries 0
    status=$?
    kill $killer 2>/dev/null
    wait $killer 2>/dev/null
    [ "$status" = 2 ] && has_status fault.db s001 fault && has_status fault.db s002 fail &&
        prints fault.db "s001 m1: fault of the machine: killed" &&
        [ "$(sql fault.db "SELECT count(*) FROM fault WHERE submission = 's001'")" = 1 ] &&
        grades in fault.db && has_status fault.db s001 pass
}
claim 'a killed grader is a fault, not a fail, and is tried again' fault_is_apart

unreadable_is_a_fault() { # unreadable for the grader; root can read everything unless it has dropped this capability
    mkdir -p locked/top/m1-cpu-conv locked/below/m1-cpu-conv locked/file/m1-cpu-conv
    cp in/s002/m1-cpu-conv/conv.c locked/file/m1-cpu-conv && cp locked/file/m1-cpu-conv/conv.c locked/below/conv.c && touch locked/packed.zip
    what="locked/top locked/below/m1-cpu-conv locked/file/m1-cpu-conv/conv.c locked/packed.zip" may=
    [ "$(id -u)" != 0 ] || may="setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search"
    # shellcheck disable=SC2086
    { [ -z "$may" ] || chown 1 $what; } && chmod 0 $what || return 1
    $may "$build/grader" class locked --milestones m1,m2 --gradebook locked.db --quick --images 1 $sandbox >said-locked.db 2>&1
    code=$?
    # shellcheck disable=SC2086
    { [ -z "$may" ] || chown 0 $what; } && chmod 700 $what
    [ $code = 2 ] && prints locked.db 'top: not graded: its folder cannot be read: Permission denied' &&
        prints locked.db 'below: m1: m1-cpu-conv cannot be read: Permission denied' &&
        prints locked.db 'file: m1: m1-cpu-conv/conv.c cannot be read: Permission denied' &&
        prints locked.db 'packed: not graded: its archive cannot be read: Permission denied' &&
        [ "$(sql locked.db "SELECT count(*) FROM grade WHERE status = 'fault' AND score IS NULL")" = 7 ] &&
        [ "$(sql locked.db "SELECT count(*) FROM fault WHERE kind = 'unreadable'")" = 7 ] || return 1
    "$build/grader" class locked --milestones m1,m2 --gradebook locked.db --quick --images 1 $sandbox >said-locked.db 2>&1
    prints locked.db '7 graded: 0 pass, 1 fail, 0 skip, 4 missing, 2 rejected, 0 fault; 1 were up to date'
}
claim 'an unreadable submission is a fault, not a zero' unreadable_is_a_fault
no_sandbox_is_refused() {
    ! PATH=/nowhere "$build/grader" class in --milestones m1 --gradebook open.db >said-open.db 2>&1 &&
        prints open.db '--no-sandbox grades without it' && [ ! -e open.db ]
}
[ -n "$sandbox" ] || claim 'without a sandbox a class is refused' no_sandbox_is_refused

second_is_refused() {
    (flock 9; sleep 1) 9>>calm.db.files/class.lock &
    sleep 0.2
    ! grades in calm.db && prints calm.db 'another run of grader class is writing to this gradebook'
    result=$?
    wait
    return $result
}
claim 'a second run on one gradebook is refused' second_is_refused
newer_is_refused() {
    cp calm.db newer.db && sql newer.db 'PRAGMA user_version = 99' && ! grades in newer.db &&
        prints newer.db 'newer.db: expected at most version' && prints newer.db 'got 99'
}
claim 'a gradebook of a newer version is refused' newer_is_refused
no_gradebook_is_refused() { echo name,points >no.db && ! grades in no.db && prints no.db 'is not a gradebook'; }
claim 'a file that is not a gradebook is refused' no_gradebook_is_refused

disk_is_full() {
    hand_in s001
    mkdir -p small && mount -t tmpfs -o size=200k tmpfs small || return 77
    "$build/grader" class in --milestones m1 --gradebook small/full.db --quick --images 1 --seed 7 $sandbox >said-full 2>&1
    [ $? = 2 ] && grep -qi -e 'disk is full' -e 'No space left' said-full || { cat said-full; return 1; }
    mount -o remount,size=64m small && "$build/grader" class in --milestones m1 --gradebook small/full.db --quick \
        --images 1 --seed 7 $sandbox >said-full 2>&1 && [ "$(sql small/full.db "SELECT count(*) FROM grade WHERE status = 'fail'")" = 2 ]
}
compiler_has_no_room() { # disk space for the sources only, then more and more, until the library fits
    code=2
    for size in 28 40 64 128 256 512; do
        mount -t tmpfs -o size=${size}k tmpfs small || return 77
        TMPDIR=$scratch/small "$build/grader" m1 --source "$reference" --quick --images 1 --report room >>said-room 2>&1
        code=$?
        umount small
        [ $code = 2 ] || break
    done
    cat said-room
    [ $code = 0 ] && grep -q 'the compiler failed, and the disk is full: No space left on device' said-room
}
if mkdir small && mount -t tmpfs -o size=100k tmpfs small 2>/dev/null; then
    umount small
    claim 'a compiler that finds no room on the disk is not a failure of the submission' compiler_has_no_room
    claim 'a full disk is reported, and the same command resumes when there is space' disk_is_full
else
    echo 'skipped: a full disk: no small file system can be mounted here'
fi
waits_for_its_turn() {
    wait $waiting && has_status turn.db late pass && [ "$(sql turn.db 'SELECT timed_from - started > 20 FROM attempt')" = 1 ] && return
    cat said-turn.db
    sql turn.db 'SELECT * FROM attempt'
    return 1
}
claim 'waiting for the turn counts not as time of a grading' waits_for_its_turn
claims_end
