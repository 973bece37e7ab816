-- A gradebook as version 1 made it, with one grade: what migrate.c must bring up to date.
PRAGMA application_id = 1131376204;
PRAGMA user_version = 1;
CREATE TABLE setting (name TEXT NOT NULL,value TEXT NOT NULL,PRIMARY KEY (name)) STRICT;
CREATE TABLE roster (name TEXT NOT NULL,team TEXT NOT NULL,display_name TEXT NOT NULL,email TEXT NOT NULL,line INTEGER NOT NULL,PRIMARY KEY (name)) STRICT;
CREATE TABLE submission (name TEXT NOT NULL,raw_name TEXT ,team TEXT NOT NULL,path TEXT ,kind TEXT NOT NULL,hash TEXT ,modified INTEGER NOT NULL,status TEXT NOT NULL CHECK (status IN ('ok', 'rejected', 'none')),message TEXT NOT NULL,PRIMARY KEY (name)) STRICT;
CREATE TABLE run (id INTEGER ,started INTEGER NOT NULL,finished INTEGER NOT NULL,command TEXT NOT NULL,version TEXT NOT NULL,host TEXT NOT NULL,PRIMARY KEY (id)) STRICT;
CREATE TABLE attempt (id INTEGER ,submission TEXT NOT NULL REFERENCES submission (name),milestone TEXT NOT NULL,run INTEGER NOT NULL REFERENCES run (id),status TEXT NOT NULL CHECK (status IN ('pass', 'fail', 'skip', 'missing', 'rejected', 'fault')),score REAL ,max_score REAL ,manual_max REAL ,seed INTEGER NOT NULL,version TEXT NOT NULL,device TEXT NOT NULL,profile TEXT NOT NULL,machine TEXT NOT NULL,compiler TEXT NOT NULL,sandbox TEXT NOT NULL,options TEXT NOT NULL,source_path TEXT ,source_hash TEXT ,source_bytes INTEGER NOT NULL,started REAL NOT NULL,finished REAL NOT NULL,cpu_s REAL ,max_rss_kib INTEGER NOT NULL,exit_status INTEGER NOT NULL,tries INTEGER NOT NULL,noisy INTEGER NOT NULL,speed_ratio REAL ,speed_images INTEGER NOT NULL,message TEXT NOT NULL,PRIMARY KEY (id)) STRICT;
CREATE TABLE grade (submission TEXT NOT NULL REFERENCES submission (name),milestone TEXT NOT NULL,status TEXT NOT NULL,score REAL ,max_score REAL ,attempt INTEGER NOT NULL REFERENCES attempt (id),PRIMARY KEY (submission, milestone)) STRICT;
CREATE TABLE check_result (attempt INTEGER NOT NULL REFERENCES attempt (id),position INTEGER NOT NULL,name TEXT NOT NULL,text TEXT NOT NULL,status TEXT NOT NULL CHECK (status IN ('pass', 'fail', 'skip')),points REAL ,max_points REAL ,required INTEGER NOT NULL,pattern TEXT NOT NULL,message TEXT NOT NULL,hint TEXT NOT NULL,PRIMARY KEY (attempt, position)) STRICT;
CREATE TABLE inference (attempt INTEGER NOT NULL REFERENCES attempt (id),model TEXT NOT NULL,images INTEGER NOT NULL,correctness REAL ,expected_correctness REAL ,max_error REAL ,passed INTEGER NOT NULL,PRIMARY KEY (attempt, model, images)) STRICT;
CREATE TABLE timing (attempt INTEGER NOT NULL REFERENCES attempt (id),subject TEXT NOT NULL,model TEXT NOT NULL,layer INTEGER NOT NULL,images INTEGER NOT NULL,gmac REAL ,median_s REAL ,op_times_s TEXT NOT NULL,PRIMARY KEY (attempt, subject, model, layer, images)) STRICT;
CREATE TABLE artefact (attempt INTEGER NOT NULL REFERENCES attempt (id),kind TEXT NOT NULL,path TEXT NOT NULL,PRIMARY KEY (attempt, kind)) STRICT;
CREATE TABLE manual_item (submission TEXT NOT NULL REFERENCES submission (name),milestone TEXT NOT NULL,item TEXT NOT NULL,points REAL ,comment TEXT NOT NULL,entered INTEGER NOT NULL,PRIMARY KEY (submission, milestone, item)) STRICT;
CREATE TABLE fault (id INTEGER ,run INTEGER NOT NULL REFERENCES run (id),submission TEXT NOT NULL,milestone TEXT NOT NULL,at INTEGER NOT NULL,kind TEXT NOT NULL,message TEXT NOT NULL,PRIMARY KEY (id)) STRICT;
CREATE TABLE notice (id INTEGER ,run INTEGER NOT NULL REFERENCES run (id),submission TEXT ,message TEXT NOT NULL,PRIMARY KEY (id)) STRICT;
CREATE INDEX attempt_of ON attempt (submission, milestone);
INSERT INTO submission (name, team, kind, modified, status, message) VALUES ('s001', '', 'folder', 0, 'ok', '');
INSERT INTO run (id, started, finished, command, version, host) VALUES (1, 1, 2, 'grader class', 'v', 'h');
INSERT INTO attempt (id, submission, milestone, run, status, score, max_score, seed, version, device, profile, machine,
    compiler, sandbox, options, source_bytes, started, finished, max_rss_kib, exit_status, tries, noisy, speed_images,
    message) VALUES (1, 's001', 'm1', 1, 'pass', 60, 60, 7, 'v', 'cpu', '', '', '', 'none', '', 10, 1, 2, 0, 0, 1, 0, 0, '');
INSERT INTO grade (submission, milestone, status, score, max_score, attempt) VALUES ('s001', 'm1', 'pass', 60, 60, 1);
